"""What is wrong with the arguments of a call, as each version says it."""

from __future__ import annotations

from typing import Any

import pytest

from wireproof_codex.mcp_server.tools import WrongCallError, check, thread_params, tools
from wireproof_codex.versions.version import VERSIONS

_PARSED = "Failed to parse configuration for Codex tool: "
_OTHER = "unknown variant `x`, expected"


@pytest.mark.parametrize(
    ("version", "arguments", "text"),
    [
        ("0.138.0", {"prompt": 5}, "invalid type: integer `5`, expected a string"),
        ("0.140.0", {"prompt": 5}, "invalid type: number, expected a string"),
        ("0.140.0", {"prompt": "x", "cwd": True}, "invalid type: boolean `true`, expected a string"),
        ("0.140.0", {"config": [], "prompt": 5}, "invalid type: sequence, expected a map"),
        ("0.140.0", {"approval-policy": "x"}, f"{_OTHER} one of `untrusted`, `on-failure`, `on-request`, `never`"),
        ("0.143.0", {"approval-policy": "x"}, f"{_OTHER} one of `untrusted`, `on-request`, `never`"),
        ("0.150.0", {"approval-policy": "x"}, f"{_OTHER} `on-request` or `never`"),
    ],
)
def test_a_wrong_argument_is_named(version: str, arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(WrongCallError) as raised:
        check("codex", arguments, VERSIONS[version])
    assert str(raised.value) == f"{_PARSED}{text}"


def test_an_unknown_argument_is_passed_over_by_older_versions() -> None:
    assert check("codex", {"prompt": "x", "nope": 1}, VERSIONS["0.133.0"]) == {"prompt": "x", "nope": 1}
    with pytest.raises(WrongCallError, match="unknown field `nope`, expected one of `prompt`, `model`, `cwd`"):
        check("codex", {"prompt": "x", "nope": 1}, VERSIONS["0.134.0"])
    assert check("codex-reply", {"prompt": "x", "nope": 1}, VERSIONS["0.134.0"])


def test_a_profile_went_with_the_versions_that_refuse_what_they_do_not_know() -> None:
    names = [tools(VERSIONS[version])[0]["inputSchema"]["properties"] for version in ("0.133.0", "0.134.0")]
    assert ["profile" in known for known in names] == [True, False]


def test_an_argument_counts_more_than_a_setting() -> None:
    given = {"prompt": "x", "model": "a", "config": {"model": "b", "sandbox_mode": "read-only", "other": 1}}
    assert thread_params(given) == {"model": "a", "sandbox": "read-only"}
