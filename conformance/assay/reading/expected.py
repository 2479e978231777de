"""The exact right answer: what a client must end up with, worked out from the script that the backend plays.

Rules (contract §1, §4 to §6): text after a call is dropped; a call makes the finish reason `tool_calls`
(`function_call` in that dialect, which knows one call); a stream under stop policy `first` carries one call; a whole
answer with calls has no text and carries them all; obsidian-xml writes calls into the content, one block each, the
first of them only unless the policy is `burst`. A literal block in the backend's text is a call told in text. A failure
before any output is an HTTP error, after text an error frame, after a complete call nothing at all (but an HTTP error
in a whole answer). In the middle of a call it is either of the first two, as much of the call as was told; so it is
where the backend never says anything. A line of the backend's that is no UTF-8 is a failure.

Responses differ in this: text before a call is an item of its own, so it stays in whole answers too. A sentinel block
in the backend's text is a call in every dialect. With the header for obsidian-xml a response has its blocks as text and
no calls.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeGuard

from assay.model.scenario import Form, Mode
from assay.wire import sentinel, textual
from assay_scripts import steps as language

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.model.dialect import Dialect

End = language.Finish | language.Fail | language.ErrorNotice | language.Crash | language.Hang | language.Raw
DELIMITER = "\n"
"""What stands between the blocks of several calls."""


class Failure(StrEnum):
    """How a client must learn that the backend failed."""

    NONE = "none"
    BEFORE_OUTPUT = "before output"
    AFTER_TEXT = "after text"
    AFTER_CALL = "after a call"
    IN_CALL = "inside a call"
    SILENT = "by saying nothing"


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpectedCall:
    """A call as the backend made it. `block` is how it stands in obsidian-xml's content.

    `exact`: the arguments are the model's own text; else they were told as elements of a block, and only their meaning
    is known.
    """

    id: str
    name: str
    arguments: str
    block: str
    exact: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """What the client must get in one choice.

    `text` is the content without `blocks`, which stand behind it in obsidian-xml; it is None when the backend reflects.
    `finish` is None when the turn never ends, `usage` when the backend tells no counts. `cut`: it has no room for more,
    whatever `finish` is. `gates` are those that the turn waits at.
    """

    text: str | None
    blocks: tuple[str, ...] = ()
    calls: tuple[ExpectedCall, ...]
    finish: str | None
    usage: language.Usage | None
    failure: Failure
    cut: bool = False
    gates: tuple[language.Gate, ...] = ()


@dataclass(kw_only=True, slots=True)
class _Said:
    """A part, summed up to the step that ends it."""

    text: str = ""
    calls: list[ExpectedCall] = field(default_factory=list)
    begun: bool = False
    usage: language.Usage = field(default_factory=language.Usage)
    reflects: bool = False
    gates: list[language.Gate] = field(default_factory=list)
    end: End = field(default_factory=language.Finish)


def expected(
    part: Iterable[language.Step], form: Form, *, burst: bool, offered: bool = True, blocks: bool = False
) -> Expected:
    """The answer to a turn that plays `part`, asked for in this form.

    `burst` is the stop policy asked for; `offered` says whether the request lets the backend call tools: if not, what
    looks like a call in the text is text. `blocks`: a response is to tell its calls as blocks in the text.
    """
    said = _sum_up(part, offered=offered)
    failure = _failure(said, form.mode)
    if failure is Failure.BEFORE_OUTPUT:
        return Expected(text="", calls=(), finish=None, usage=None, failure=failure)
    calls = _carried(said.calls, form, burst=burst)
    if blocks:
        text = said.text + DELIMITER.join(call.block for call in (said.calls if burst else said.calls[:1]))
        said, calls = _Said(text=text, usage=said.usage, end=said.end), ()
    return Expected(
        text=None if said.reflects else "" if calls and _drops_text(form) else said.text,
        blocks=_blocks(calls, form, burst=burst),
        calls=calls,
        finish=_finish(said, form.dialect),
        usage=said.usage if _counted(said, failure) else None,
        failure=failure,
        cut=said.end == language.Finish("length"),
        gates=tuple(said.gates),
    )


def _drops_text(form: Form) -> bool:
    """Whether an answer of this form with calls has no text."""
    return form.mode is Mode.WHOLE and not form.dialect.spec.text_before_calls


def _sum_up(part: Iterable[language.Step], *, offered: bool) -> _Said:
    said = _Said()
    for step in part:
        if _ends(step):
            said.end = step
            break
        match step:
            case language.Say() | language.Surrogates():
                _say(said, step.text, offered=offered)
            case language.Call(unfinished=True):
                said.begun = True
            case language.Call():
                said.calls.append(_call(step))
            case language.Usage():
                said.usage = step
            case language.Reflect():
                said.reflects = True
            case language.Gate():
                said.gates.append(step)
            case language.Finish():
                said.end = step
            case _:
                pass
    return said


def _call(step: language.Call) -> ExpectedCall:
    block = textual.write_block(step.name, step.arguments)
    in_text = step.shape == "use-tool" and not step.also
    return ExpectedCall(id=step.id, name=step.name, arguments=step.arguments, block=block, exact=not in_text)


def _say(said: _Said, text: str, *, offered: bool) -> None:
    """Add text, as long as no call came; a block that it completes is a call, and so are sentinels."""
    if said.calls:
        return
    said.text += text
    if not offered:
        return
    kept, calls = sentinel.split(said.text)
    if calls:
        said.text = kept
        said.calls += [
            ExpectedCall(
                id=call.id,
                name=call.name,
                arguments=call.arguments,
                block=textual.write_block(call.name, call.arguments),
            )
            for call in calls
        ]
        return
    found = textual.split(said.text)
    told = textual.read_block(found[1]) if found else None
    if found and told:
        said.text = found[0]
        said.calls.append(ExpectedCall(id="", name=told.name, arguments="", block=found[1], exact=False))


def _carried(calls: Sequence[ExpectedCall], form: Form, *, burst: bool) -> tuple[ExpectedCall, ...]:
    """The calls that an answer of this form has room for."""
    one = form.dialect.spec.one_call or (form.mode is Mode.STREAM and not burst)
    return tuple(calls[:1] if one else calls)


def _blocks(calls: Sequence[ExpectedCall], form: Form, *, burst: bool) -> tuple[str, ...]:
    """The blocks that stand in the content."""
    if not form.dialect.spec.blocks:
        return ()
    return tuple(call.block for call in (calls if burst else calls[:1]))


def _failure(said: _Said, mode: Mode) -> Failure:
    spoken = bool(said.text or said.calls or said.reflects)
    match said.end:
        case language.Finish():
            return Failure.NONE
        case language.Hang():
            return Failure.NONE if spoken or said.begun else Failure.SILENT
        case _ if mode is Mode.WHOLE or not (spoken or said.begun):
            return Failure.BEFORE_OUTPUT
        case _ if said.calls:
            return Failure.AFTER_CALL
        case _:
            return Failure.IN_CALL if said.begun else Failure.AFTER_TEXT


def _ends(step: language.Step) -> TypeGuard[End]:
    """Whether nothing more counts after it: the end of one choice is not that of the turn."""
    match step:
        case language.Finish():
            return step.choice is None
        case language.Raw():
            return not _is_utf8(step.line)
        case _:
            return isinstance(step, language.Fail | language.ErrorNotice | language.Crash | language.Hang)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _counted(said: _Said, failure: Failure) -> bool:
    """Whether the backend tells the counts: a turn that failed, or that a filter ended, has none."""
    return failure is Failure.NONE and said.end != language.Finish("content_filter")


def _finish(said: _Said, dialect: Dialect) -> str | None:
    match said.end:
        case language.Hang():
            return None
        case _ if said.calls:
            return dialect.spec.call_finish
        case language.Finish(reason=reason):
            return reason
        case _:
            return None
