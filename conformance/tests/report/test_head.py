from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.model.dialect import Dialect, Surface
from wireproof.model.target import Adjustment, SurfaceReport, SurfaceState
from wireproof.report.head import head

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from wireproof.reading.exchange import Exchange
    from wireproof.results.certificate import Certificate

    Make = Callable[..., Exchange]
    Certified = Callable[..., Certificate]
    Show = Callable[..., str]

JUDGED = SurfaceReport(state=SurfaceState.JUDGED, status=200)
REFUSED = b'{"error": {"message": "only n=1", "type": "invalid_request_error", "param": "n", "code": null}}'


@pytest.fixture
def show(console: Console, printed: Callable[[], str]) -> Show:
    """The head of a certificate whose target has these surfaces."""

    def text(certificate: Certificate, **target: Any) -> str:
        head(console, dataclasses.replace(certificate, target=dataclasses.replace(certificate.target, **target)))
        return printed()

    return text


def test_each_surface_is_named_with_what_showed_its_state(whole: Make, certified: Certified, show: Show) -> None:
    one = certified(whole("text-hello", "Hello, world!"))
    absent = SurfaceReport(
        state=SurfaceState.ABSENT, reason="HTTP 200 with text/plain", status=200, said="It\x07works!"
    )
    assert show(
        dataclasses.replace(one, selection=("text-hello",)),
        surfaces={Surface.CHAT: JUDGED, Surface.RESPONSES: absent},
        unspoken={Dialect.FUNCTION_CALL: "it is not served: no call"},
    ).splitlines()[1:] == [
        "chat  judged in openai-json",
        "  function-call not judged: it is not served: no call",
        "responses  absent: HTTP 200 with text/plain",
        r"  it said: It\x07works!",
    ]


def test_how_many_exchanges_ran_at_a_time_is_said_where_it_is_known(
    whole: Make, certified: Certified, show: Show
) -> None:
    one = certified(whole("text-hello", "Hello, world!"))
    assert ", 3 at a time, 8 asked for" in show(dataclasses.replace(one, jobs=8, at_a_time=3))


def test_a_run_that_was_cut_short_does_not_say_how_many_ran_at_a_time(
    whole: Make, certified: Certified, show: Show
) -> None:
    one = certified(whole("text-hello", "Hello, world!"))
    assert "at a time" not in show(dataclasses.replace(one, jobs=8, at_a_time=0, interrupted=True))


def test_what_requests_do_without_is_named_with_the_refusal(whole: Make, certified: Certified, show: Show) -> None:
    adjusted = {
        "max_tokens": Adjustment(instead="max_completion_tokens", status=400, message="Other."),
        "stream_options": Adjustment(instead="", status=422, message="Not here."),
    }
    certificate = dataclasses.replace(certified(whole("text-hello", "Hello, world!")), selection=("text-hello",))
    assert show(certificate, surfaces={}, adjusted=adjusted).splitlines()[1:] == [
        "  judged with `max_completion_tokens` for `max_tokens`, since `max_tokens` is refused (HTTP 400: Other.)",
        "  judged without `stream_options`, since `stream_options` is refused (HTTP 422: Not here.)",
    ]


def test_a_message_that_the_reason_quotes_is_not_said_twice(whole: Make, certified: Certified, show: Show) -> None:
    gone = SurfaceReport(state=SurfaceState.ABSENT, reason="HTTP 404 (Nothing.)", status=404, said='{"error": …}')
    shown = show(certified(whole("text-hello", "Hi.")), surfaces={Surface.RESPONSES: gone})
    assert shown.splitlines()[1:] == ["responses  absent: HTTP 404 (Nothing.)"]


def test_a_surface_that_is_judged_or_left_out_says_why(whole: Make, certified: Certified, show: Show) -> None:
    fails = SurfaceReport(state=SurfaceState.JUDGED, reason="although no text came: HTTP 500", status=500)
    left = SurfaceReport(state=SurfaceState.NOT_JUDGED, reason="--dialect names others")
    shown = show(
        dataclasses.replace(certified(whole("text-hello", "Hi.")), selection=("x",)),
        surfaces={Surface.CHAT: left, Surface.RESPONSES: fails},
        dialects=(Dialect.RESPONSES,),
    )
    assert shown.splitlines()[1:] == [
        "chat  not judged: --dialect names others",
        "responses  judged, although no text came: HTTP 500",
    ]


def test_capabilities_are_listed_by_what_became_of_them(
    stream: Make, plain: Make, certified: Certified, show: Show
) -> None:
    one = certified(stream("text-hello", "Hi.", {"finish": "stop"}), plain("choices-text", 400, REFUSED))
    shown = show(one, surfaces={Surface.CHAT: JUDGED}).splitlines()[1:]
    assert shown == [
        "chat  judged in openai-json",
        "  served    streams",
        "  refused   several choices (HTTP 400: only n=1)",
        "  not seen  usage in streams, tool calls, forced tool choice, structured output, images",
    ]


def test_what_a_selection_did_not_ask_for_is_not_listed(stream: Make, certified: Certified, show: Show) -> None:
    one = dataclasses.replace(certified(stream("text-hello", "Hi.", {"finish": "stop"})), selection=("text-hello",))
    assert show(one, surfaces={Surface.CHAT: JUDGED}).splitlines()[2:] == ["  served  streams"]


def test_a_request_that_was_accepted_and_ignored_is_said_so(whole: Make, certified: Certified, show: Show) -> None:
    one = dataclasses.replace(certified(whole("choices-text", "One.")), selection=("choices-text",))
    assert show(one, surfaces={Surface.CHAT: JUDGED}).splitlines()[2:] == ["  ignored  several choices"]
