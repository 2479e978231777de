from __future__ import annotations

from dataclasses import replace

import pytest

from wireproof.model.scenario import ConversationScenario, PlainScenario, Request, Scenario, Turn
from wireproof.model.target import ABOUT_ANOTHER, BEHIND_UPSTREAMS, Backend, Missing, Target
from wireproof.reading.playable import unsupported_reason
from wireproof.scenarios import SCENARIOS

CODEX = Target(base_url="http://127.0.0.1:1/v1", model="m", backend=Backend.CODEX)
OLDER = replace(CODEX, missing=frozenset(Missing))
MOCK = replace(CODEX, backend=Backend.MOCK)


def plain(*requests: Request) -> PlainScenario:
    return PlainScenario(name="p", title="", exercises=(), requests=requests)


def scenario(script: str = "", **more: object) -> ConversationScenario:
    return ConversationScenario(name="s", title="", exercises=(), script=script, **more)  # type: ignore[arg-type]  # fields of any type


def test_the_mock_plays_everything() -> None:
    reasons = {one.name: unsupported_reason(one, MOCK) for one in SCENARIOS}
    about_others = {one.name: ABOUT_ANOTHER[one.backend] for one in SCENARIOS if one.backend is not None}
    assert {name: why for name, why in reasons.items() if why} == about_others
    assert {*about_others.values()} == {*ABOUT_ANOTHER.values()}


def test_cursors_service_plays_what_its_protocol_has_a_form_for() -> None:
    cursor = replace(MOCK, backend=Backend.CURSOR)
    left_out = {one.name: why for one in SCENARIOS if (why := unsupported_reason(one, cursor))}
    assert {"shape-a", "finish-length", "cut-bytes", "call-late", "choices-text", "xml-no-object"} <= left_out.keys()
    assert not {"call-one", "fail-first", "crash-in-text", "history", "agent-names", "agent-trap"} & left_out.keys()
    assert left_out["call-late"].startswith(
        "Cursor's agent service is behind the target, which cannot play call/late: Finish: "
    )


def test_behind_a_gateway_only_what_an_upstream_can_show_is_played() -> None:
    gateway = replace(MOCK, backend=Backend.ENDPOINT)
    assert unsupported_reason(scenario("shapes/a"), gateway) == ""
    assert unsupported_reason(scenario("shapes/a", behind_upstreams=True), gateway) == BEHIND_UPSTREAMS
    left_out = {one.name for one in SCENARIOS if unsupported_reason(one, gateway)}
    assert {"shape-a", "sentinel-plain", "crash-first", "garbled", "cut-bytes", "slots-taken"} <= left_out
    assert not {"call-one", "fail-first", "text-markup", "history", "param-n-cap", "settings-passed-on"} & left_out
    by_login = replace(gateway, missing=frozenset({Missing.SETTINGS}))
    assert {one.name for one in SCENARIOS if unsupported_reason(one, by_login)} - left_out == {
        "settings-passed-on",
        "settings-of-responses",
        "call-beside-name",
        "text-thinking-in-chat",
    }


def test_an_upstream_that_is_asked_for_messages_has_no_place_for_arguments_that_are_no_object() -> None:
    gateway = replace(MOCK, backend=Backend.ENDPOINT)
    of_messages = replace(gateway, missing=frozenset({Missing.SPELLING}))
    left_out = {one.name for one in SCENARIOS if unsupported_reason(one, of_messages)}
    assert left_out - {one.name for one in SCENARIOS if unsupported_reason(one, gateway)} == {
        "call-broken",
        "xml-broken",
        "xml-no-object",
    }


def test_the_mock_of_an_older_codex_plays_what_that_can() -> None:
    older = replace(MOCK, missing=OLDER.missing)
    assert unsupported_reason(scenario("shapes/a"), older) == ""
    assert unsupported_reason(scenario("call/one"), older) == (
        "the mock behind the target plays an older Codex, which cannot play call/one: "
        "this Codex takes no tools of its client"
    )


@pytest.mark.parametrize(
    ("name", "lack"),
    [("history-calls", Missing.HISTORY), ("call-late", Missing.ENDS), ("finish-length", Missing.REASONS)],
)
def test_a_scenario_needs_what_a_version_may_lack(name: str, lack: Missing) -> None:
    (found,) = (one for one in SCENARIOS if one.name == name)
    assert unsupported_reason(found, MOCK) == ""
    assert unsupported_reason(found, replace(MOCK, missing=frozenset({lack}))).endswith(f": this Codex {lack}")
    others = frozenset(Missing) - {lack, Missing.TOOLS, Missing.ROLES}
    assert unsupported_reason(found, replace(MOCK, missing=others)) == ""


@pytest.mark.parametrize("script", ["text/hello", "call/one", "text/length", "reflect/turns", "fail/first"])
def test_a_real_codex_plays_what_its_models_service_can_play(script: str) -> None:
    assert unsupported_reason(scenario(script), CODEX) == ""


def test_what_it_cannot_play_is_reported_with_its_script() -> None:
    assert unsupported_reason(scenario("shapes/a"), CODEX) == (
        "a real Codex is behind the target, whose model's service cannot play shapes/a: "
        "the app-server chooses the dialect of its notifications"
    )


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("call/one", "this Codex takes no tools of its client"),
        ("text/filter", "this Codex does not say why an answer was cut off"),
        ("reflect/turns", "this Codex keeps the connection to a silent service when a turn is interrupted"),
        ("sentinel/plain", ""),
        ("shapes/g", ""),
        ("reflect/received", ""),
    ],
)
def test_an_older_one_lacks_something(script: str, why: str) -> None:
    assert unsupported_reason(scenario(script), OLDER).endswith(why)
    assert bool(unsupported_reason(scenario(script), OLDER)) is bool(why)


@pytest.mark.parametrize(
    "found",
    [
        scenario("text/hello", turns=(Turn(say="a"), Turn(say="b", script="fail/notice"))),
        scenario("text/hello", history=({"role": "system", "content": "[[wireproof:fail/notice#n]]"},)),
        plain(Request(json={"messages": [{"role": "user", "content": "[[wireproof:fail/notice#n]]"}]})),
        plain(Request(), Request(body=b'{"input": "[[wireproof:fail/notice#n]]"}')),
    ],
)
def test_a_script_is_found_wherever_it_is_asked_for(found: Scenario) -> None:
    assert "cannot play fail/notice" in unsupported_reason(found, CODEX)
    assert unsupported_reason(scenario(history=({"role": "user", "content": "[[wireproof:no/such#n]]"},)), CODEX) == ""


def test_most_scenarios_can_be_played() -> None:
    played = [one for one in SCENARIOS if not unsupported_reason(one, CODEX)]
    assert len(played) > len(SCENARIOS) * 0.7
    assert 0 < sum(not unsupported_reason(one, OLDER) for one in SCENARIOS) < len(played)


def test_the_calls_of_several_choices_need_tools_too() -> None:
    lacking = replace(MOCK, missing=frozenset({Missing.TOOLS}))
    assert unsupported_reason(scenario("choices/mixed"), lacking).endswith("this Codex takes no tools of its client")
    assert unsupported_reason(scenario("choices/mixed"), MOCK) == ""


def test_who_said_what_is_not_seen_where_a_history_is_text_of_the_user() -> None:
    lacking = replace(MOCK, missing=frozenset({Missing.ROLES}))
    why = "an older Codex is behind the target: this Codex takes a history only as text of its user"
    named = {one.name: one for one in SCENARIOS}
    assert unsupported_reason(named["history"], lacking) == why
    assert unsupported_reason(named["history"], MOCK) == ""
    # Users alone have nothing to be mistaken for; and an answer does not depend on who said what before.
    assert unsupported_reason(named["history-users"], lacking) == ""
    talk = ({"role": "assistant", "content": "Hi."},)
    assert unsupported_reason(scenario("text/hello", history=talk), lacking) == ""
