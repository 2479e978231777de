"""Which clients a result says are ready, from what their rows say and what answers had."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from saved_recordings import save

from wireproof.model.catalogue import load
from wireproof.model.dialect import ArgumentsMode, Surface
from wireproof.model.target import SurfaceReport, SurfaceState
from wireproof.report.readiness import by_readiness, clients, in_lines, readiness
from wireproof.results.document import ClientReady, Ready

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wireproof.reading.exchange import Exchange
    from wireproof.results.certificate import Certificate

    Make = Callable[..., Exchange]
    Certified = Callable[..., Certificate]
    Found = Callable[..., dict[str, ClientReady]]

STOP = {"finish": "stop"}
SERVED = {Surface.CHAT: SurfaceReport(state=SurfaceState.JUDGED)}


@pytest.fixture
def found(certified: Certified) -> Found:
    """The clients of chat after these exchanges, by name."""

    def make(*exchanges: Exchange, **target: object) -> dict[str, ClientReady]:
        certificate = certified(*exchanges)
        seen = replace(certificate, target=replace(certificate.target, surfaces=SERVED, **target))  # type: ignore[arg-type]
        return {one.client: one for one in readiness(seen, load())}

    return make


def test_where_nothing_is_wrong_all_that_were_measured_work(right_stream: Make, found: Found) -> None:
    ready = found(right_stream("text-hello"))
    assert len(ready) > 15
    assert {one.ready for one in ready.values()} == {Ready.WORKS}
    assert {one.surface for one in ready.values()} == {Surface.CHAT}
    # A newer version of the same client has lines of its own.
    assert "Obsidian Copilot" in ready
    assert not [one for one in ready if "3.1.5" in one]


def test_a_client_breaks_on_what_an_answer_has(stream: Make, found: Found) -> None:
    ready = found(stream("flush", "first", STOP, bare=True))
    broken = {name: one.broken for name, one in ready.items() if one.ready is Ready.BREAKS}
    assert set(broken) == {"openai-node .stream", "openai-node runTools", "@langchain/openai", "Obsidian Copilot"}
    # What was measured with this client comes first, then what may harm any.
    first, text = broken["openai-node .stream"].items()
    assert first == ("chat.stream.role-first", ("exception when no role comes",))
    assert text == ("chat.stream.text", ("text may be lost or altered with any client",))
    assert (ready["openai-python"].ready, dict([text])) == (Ready.WORKS_BUT, ready["openai-python"].broken)


def test_what_whole_answers_count_wrongly_is_no_stream_without_an_end(tmp_path: Path) -> None:
    # The row of a stream's end is named for the counts of whole answers, too; no stream there lacks its end.
    mine = [one for one in save("aimock", tmp_path / "aimock").clients if one.surface is Surface.RESPONSES]
    assert "responses.stream.terminal" in mine[0].broken
    assert {one.ready for one in mine} == {Ready.WORKS_BUT}


def test_where_most_requests_get_no_answer_no_client_works(plain: Make, right_whole: Make, found: Found) -> None:
    failed = plain("text-hello", 500, b'{"error": {"message": "x", "type": "y", "param": null, "code": null}}')
    ready = found(failed)
    assert {one.ready for one in ready.values()} == {Ready.BREAKS}
    assert ready["llm"].broken["target.answers"] == ("some requests get no answer",)
    assert {one.ready for one in found(right_whole("text-hello")).values()} == {Ready.WORKS}


def test_what_a_user_gets_along_with_is_a_reservation(stream: Make, found: Found) -> None:
    late = b'data: {"id": "chatcmpl-1", "created": 1, "model": "codex", "choices": []}\n\n'
    ready = found(stream("text-hello", "Hello", ", ", "world", "!", STOP, b"data: [DONE]\n\n", late))
    mine = ready["@ai-sdk/openai"]
    assert (mine.ready, set(mine.broken)) == (Ready.WORKS_BUT, {"chat.stream.done-last"})


def test_declared_cumulative_arguments_break_who_joins_them(right_stream: Make, found: Found) -> None:
    declared = {"arguments": ArgumentsMode.CUMULATIVE}
    ready = found(right_stream("text-hello"), **declared)
    assert ready["opencode"].ready is Ready.BREAKS
    assert set(ready["opencode"].broken) == {"chat.stream.arguments-incremental"}


def test_a_surface_that_is_not_served_and_a_selection_say_nothing(right_stream: Make, certified: Certified) -> None:
    certificate = certified(right_stream("text-hello"))
    assert list(readiness(certificate, load())) == []
    chosen = replace(certificate, selection=("text-hello",), target=replace(certificate.target, surfaces=SERVED))
    assert list(readiness(chosen, load())) == []


def test_those_that_break_come_first_and_a_line_says_what_they_do() -> None:
    broken = {"a.b": ("exception", "the text is lost"), "c.d": ("endless requests",)}
    some = [
        ClientReady(
            client=name, surface=surface, ready=ready, broken=broken if ready is Ready.BREAKS else {}, unobserved=()
        )
        for name, surface, ready in (
            ("x", Surface.RESPONSES, Ready.BREAKS), ("y", Surface.CHAT, Ready.WORKS), ("z", Surface.CHAT, Ready.BREAKS),
        )
    ]  # fmt: skip
    grouped = by_readiness(some)
    assert [(*key, [one.client for one in those]) for key, those in grouped.items()] == [
        (Surface.CHAT, Ready.BREAKS, ["z"]), (Surface.CHAT, Ready.WORKS, ["y"]),
        (Surface.RESPONSES, Ready.BREAKS, ["x"]),
    ]  # fmt: skip
    assert list(in_lines([some[0], some[2]])) == ["x, z: exception (a.b, and 2 more)"]
    assert clients("a, b .stream: exception when no role comes") == ["a", "b .stream"]
