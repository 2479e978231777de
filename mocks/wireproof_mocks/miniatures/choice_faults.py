"""Faults of several choices, and of the choice of the output mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.chunks import each
from wireproof_mocks.miniatures.fault import (
    MODE_HEADER,
    OPENAI_JSON,
    Fault,
    FaultExample,
    FaultHead,
    Frame,
    Json,
    SentRequest,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

_VARIABLE = "HTTP_" + MODE_HEADER.upper().replace("-", "_")
_MODES = ("openai-json", "obsidian-xml")


def _swapped(chunk: Json) -> Iterable[Frame]:
    """What belongs to one of two choices is sent as the other's."""
    # Both ways, so that each choice still has one role and one finish: it is the content that is wrong.
    yield {**chunk, "choices": [{**choice, "index": 1 - choice["index"]} for choice in chunk["choices"]]}


def _first_of_chunks(chunk: Json) -> Iterable[Frame]:
    """Only what the first choice says is sent."""
    if not chunk["choices"] or chunk["choices"][0]["index"] == 0:
        yield chunk


def _first_choice_only(body: Json, _: SentRequest, __: FaultHead) -> Json:
    return {**body, "choices": body["choices"][:1]} if "choices" in body else body


def _other_default(environ: dict[str, Any]) -> None:
    # As if the request named the mode: the proxy's default itself is not touched.
    environ.setdefault(_VARIABLE, OPENAI_JSON)


def _unknown_forgiven(environ: dict[str, Any]) -> None:
    if environ.get(_VARIABLE, OPENAI_JSON) not in _MODES:
        del environ[_VARIABLE]  # without a mode, the default counts


def _not_echoed(head: FaultHead, _: SentRequest) -> FaultHead:
    return FaultHead(status=head.status, headers=[(k, v) for k, v in head.headers if k.lower() != MODE_HEADER])


CHOICE_FAULTS: tuple[Fault, ...] = (
    Fault(name="choices-swapped", breaks="chat.stream.isolation", frames=each(_swapped), scripts=("choices/text",)),
    Fault(
        name="stream-has-one-choice-of-two",
        breaks="chat.stream.isolation",
        frames=each(_first_of_chunks),
        scripts=("choices/text", "choices/indexed", "choices/mixed", "choices/usage"),
        examples=(
            FaultExample(
                before=({"choices": [{"index": 0}]}, {"choices": [{"index": 1}]}, {"choices": []}),
                after=({"choices": [{"index": 0}]}, {"choices": []}),
            ),
        ),
    ),
    Fault(
        name="whole-one-choice-of-two",
        breaks="chat.whole.choices",
        whole=_first_choice_only,
        examples=(FaultExample(before={"choices": [1, 2]}, after={"choices": [1]}),),
    ),
    Fault(name="mode-set-up-ignored", breaks="mode.default", environ=_other_default),
    Fault(name="mode-not-echoed", breaks="mode.header", head=_not_echoed),
    Fault(name="unknown-mode-forgiven", breaks="mode.invalid", environ=_unknown_forgiven),
)
"""Each is the reference proxy with one thing wrong in its choices or modes."""
