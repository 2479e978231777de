from __future__ import annotations

from typing import Any

import pytest

from wireproof.model.dialect import CHATS, Dialect
from wireproof.model.scenario import Auth, Form, Mode, PlainScenario, Request, Scenario
from wireproof.model.target import KeyStyle, Target
from wireproof.reading.right_answers import answers_to
from wireproof.requests.adapted import adapted
from wireproof.scenarios import CONVERSATIONS, PLAIN, SCENARIOS
from wireproof.scenarios.live import LIVE

NAMED = {scenario.name: scenario for scenario in SCENARIOS}
REQUESTS = {scenario.name: scenario.requests for scenario in PLAIN}


def asked(scenario: Scenario, target: Target) -> tuple[Request, ...]:
    """The requests that a scenario sends to a target."""
    mine = adapted(scenario, target)
    assert isinstance(mine, PlainScenario)
    return mine.requests


SILENCES = {one.name: one for one in CONVERSATIONS if one.name.startswith("silence")}


def target(**changes: Any) -> Target:
    return Target(**{"base_url": "http://x/v1", "model": "m", "dialects": tuple(Dialect), **changes})


@pytest.mark.parametrize("dialects", [tuple(Dialect), CHATS, (Dialect.OBSIDIAN_XML, Dialect.RESPONSES)])
def test_where_chat_is_served_with_a_bearer_token_nothing_changes(dialects: tuple[Dialect, ...]) -> None:
    served = target(dialects=dialects, keepalive=15.0, api_key="k")
    assert all(adapted(scenario, served) is scenario for scenario in SCENARIOS)


def test_web_pages_are_let_in_by_targets_that_ask_for_a_key() -> None:
    origins = {key: {one.headers["origin"] for one in asked(NAMED["cors"], target(api_key=key))} for key in ("k", None)}
    assert origins["k"] - origins[None] == {"http://localhost:5173"}
    assert "app://obsidian.md" in origins[None]
    # Of a scenario that has nothing else, the whole does not apply there.
    (live,) = (one for one in LIVE if isinstance(one, PlainScenario) and one.name == "live-cors")
    assert asked(live, target()) == live.requests
    (ours,) = (one for one in PLAIN if one.name == "cors")
    assert (live.is_about_keys, ours.is_about_keys) == (True, False)


def test_a_silence_is_brief_where_the_interval_of_comments_is_not_known() -> None:
    unknown = target(api_key="k")
    brief = {one.name: changed for one in SCENARIOS if (changed := adapted(one, unknown)) is not one}
    assert brief.keys() == {"silence", "silence-long"}
    form = Form(Dialect.OPENAI_JSON, Mode.STREAM)
    for scenario in brief.values():
        (mine,), (whole,) = (answers_to(one, 0, form) for one in (scenario, SILENCES[scenario.name]))
        assert mine.text == whole.text
        # A proxy that serves one request at a time, and never sees the gate opened, waits no longer.
        assert [gate.timeout <= 3.0 for gate in mine.gates] == [True]


def test_in_another_style_a_key_has_no_scheme_and_no_challenge() -> None:
    right = REQUESTS["auth-wrong"]
    mine = asked(NAMED["auth-wrong"], target(key_style=KeyStyle.X_API_KEY))
    assert {one.auth for one in right} - {one.auth for one in mine} == {Auth.OTHER_CASE, Auth.OTHER_SCHEME}
    assert [(one.auth, one.expect, one.code, one.shows) for one in mine] == [
        (auth, 401, "invalid_api_key", {}) for auth in (Auth.WRONG, Auth.CUT, Auth.EXTENDED)
    ]


@pytest.mark.each("scenario", PLAIN, ids=lambda scenario: scenario.name)
def test_in_another_style_nothing_else_changes(scenario: PlainScenario) -> None:
    mine = asked(scenario, target(key_style=KeyStyle.QUERY, api_key="k"))
    kept = [one for one in scenario.requests if one.auth not in {Auth.OTHER_CASE, Auth.OTHER_SCHEME}]
    assert [(one.path, one.json, one.body, one.expect) for one in mine] == [
        (one.path, one.json, one.body, one.expect) for one in kept
    ]


ALONE = target(dialects=(Dialect.RESPONSES,), api_key="k")
WHOLE = (Form(Dialect.RESPONSES, Mode.WHOLE),)


@pytest.mark.parametrize(
    "name", ["auth-missing", "auth-wrong", "body-not-json", "body-too-large", "body-media-type", "cors", "request-ids"]
)
def test_where_only_responses_are_served_the_rules_of_http_are_asked_there(name: str) -> None:
    mine = asked(NAMED[name], ALONE)
    assert not [one.path for one in mine if one.path == "/chat/completions"]
    assert adapted(NAMED[name], ALONE).forms(ALONE.dialects) == WHOLE
    assert [one.expect for one in mine] == [one.expect for one in REQUESTS[name]]


def test_a_request_is_moved_with_its_conversation() -> None:
    request = asked(NAMED["auth-missing"], ALONE)[0]
    assert (request.path, request.json) == (
        "/responses", {"model": "{model}", "input": [{"role": "user", "content": "Hello."}]},
    )  # fmt: skip
    broken = asked(NAMED["body-not-json"], ALONE)[0]
    assert (broken.path, broken.body) == ("/responses", b'{"model": "{model}", "input": [')


@pytest.mark.parametrize("name", ["param-n", "param-tools", "param-role", "param-messages", "param-stream-options"])
def test_what_only_chat_has_is_not_asked_of_responses(name: str) -> None:
    assert adapted(NAMED[name], ALONE).forms(ALONE.dialects) == ()


def test_addresses_beside_the_surfaces_stay() -> None:
    for name in ("models", "live", "cors-nowhere"):
        assert [one.path for one in asked(NAMED[name], ALONE)] == [one.path for one in REQUESTS[name]]
        assert adapted(NAMED[name], ALONE).forms(ALONE.dialects) == WHOLE


def test_scenarios_of_responses_and_conversations_stay() -> None:
    for name in ("responses-http", "previous-response"):
        assert [one.path for one in asked(NAMED[name], ALONE)] == [one.path for one in REQUESTS[name]]
    assert adapted(NAMED["text-hello"], ALONE) is NAMED["text-hello"]
