from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from wireproof_codex.protocol.params import Refused
from wireproof_codex.versions.version import VERSIONS

if TYPE_CHECKING:
    from mocks.tests.codex.conftest import MakeClient

TURN: dict[str, Any] = {"threadId": "t", "input": []}


def _fault(version: str, method: str, params: Any) -> str | None:
    try:
        VERSIONS[version].requests.params.check(method, params)
    except Refused as refused:
        return refused.message.removeprefix("Invalid request: ")
    return None


@pytest.mark.parametrize(
    ("version", "known"),
    [
        ("0.104.0", "`untrusted`, `on-failure`, `on-request`, `never`"),
        ("0.105.0", "`untrusted`, `on-failure`, `on-request`, `reject`, `never`"),
        ("0.115.0", "`untrusted`, `on-failure`, `on-request`, `granular`, `never`"),
        ("0.143.0", "`untrusted`, `on-request`, `granular`, `never`"),
    ],
)
def test_a_version_knows_the_policies_of_its_time(version: str, known: str) -> None:
    for method, params in (("thread/start", {}), ("turn/start", TURN)):
        fault = _fault(version, method, {**params, "approvalPolicy": "x"})
        assert fault == f"unknown variant `x`, expected one of {known}"


def test_a_policy_is_a_name_or_where_there_is_one_with_fields_a_map() -> None:
    unknown = "unknown variant `reject`, expected one of `untrusted`, `on-failure`, `on-request`, `never`"
    reject = {"sandbox_approval": True, "rules": True, "mcp_elicitations": True}
    for given, old, new in (
        ({"reject": reject}, unknown, None),
        ({"reject": {}}, unknown, "missing field `sandbox_approval`"),
        ({"reject": 5}, unknown, "invalid type: integer `5`, expected struct variant"),
        ({}, *["invalid value: map, expected map with a single key"] * 2),
        (5, *["invalid type: integer `5`, expected string or map"] * 2),
    ):
        for version, fault in (("0.104.0", old), ("0.105.0", new)):
            assert _fault(version, "thread/start", {"approvalPolicy": given}) == fault


@pytest.mark.parametrize(
    ("version", "known"),
    [
        ("0.92.0", "`text`, `image`, `localImage`, `skill`"),
        ("0.93.0", "`text`, `image`, `localImage`, `skill`, `mention`"),
        ("0.145.0", "`text`, `image`, `localImage`, `audio`, `localAudio`, `skill`, `mention`"),
    ],
)
def test_a_version_knows_the_input_of_its_time(version: str, known: str) -> None:
    fault = _fault(version, "turn/start", {**TURN, "input": [{"type": "x"}]})
    assert fault == f"unknown variant `x`, expected one of {known}"


def test_an_image_needs_a_url_until_it_may_have_a_file_id() -> None:
    params = {**TURN, "input": [{"type": "image", "fileId": "f"}]}
    assert _fault("0.155.0", "turn/start", params) == "missing field `url`"
    assert _fault("0.156.0", "turn/start", params) is None


def test_efforts_are_open_words_since_0_138() -> None:
    params = {**TURN, "effort": "bogus"}
    assert str(_fault("0.137.0", "turn/start", params)).startswith("unknown variant `bogus`, expected one of `none`")
    assert _fault("0.138.0", "turn/start", params) is None


@pytest.mark.parametrize(
    ("version", "overlooked"),
    [
        ("0.89.0", {"ephemeral", "dynamicTools", "environments"}),
        ("0.90.0", {"dynamicTools", "environments"}),
        ("0.92.0", {"environments"}),
        ("0.125.0", set()),
    ],
)
def test_what_came_later_is_overlooked(version: str, overlooked: set[str]) -> None:
    taken = VERSIONS[version].requests.params.fields("thread/start").keys()
    assert {"ephemeral", "dynamicTools", "environments"} - taken == overlooked
    assert _fault(version, "thread/start", dict.fromkeys(overlooked, 5)) is None


@pytest.mark.parametrize(
    ("version", "tools", "answer"),
    [
        ("0.94.0", [{"name": "f"}], "passes"),
        ("0.95.0", [], "passes"),
        ("0.95.0", [{"name": "f"}], "thread/start.dynamicTools requires experimentalApi capability"),
        ("0.125.0", [], "thread/start.dynamicTools requires experimentalApi capability"),
    ],
)
def test_tools_are_gated_since_0_95_and_empty_lists_of_them_since_0_125(
    make_client: MakeClient, version: str, tools: list[Any], answer: str
) -> None:
    client = make_client(version=version)
    client.context.capabilities = {}
    result, _ = client.ask("thread/start", {"dynamicTools": tools})
    assert result.get("message", "passes") == answer
