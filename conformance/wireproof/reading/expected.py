"""The exact right answer: what a client must get, worked out from the script that the backend plays.

The rules (contract §1, §4 to §6):

- Text after a call is dropped. A call makes the finish reason `tool_calls` (`function_call` in that dialect, which has
  room for one call).
- A stream under stop policy `first` carries one call. A whole answer with calls carries them all, and no text.
- Obsidian-xml writes calls into the content, one block each; only the first of them unless the policy is `burst`.
- A literal block in the backend's text is a call.
- A stop sequence ends the answer before itself. Whether its backend then still counts is its own affair.
- A failure is seen as `ExpectedFailure` says for each kind. A line of the backend that is not UTF-8 is a failure.

Responses and Messages differ: text before a call is an item or a block of its own, so whole answers keep it. A sentinel
block in the backend's text is a call in every dialect. With the header for obsidian-xml a response has its blocks as
text and no calls. Messages carry arguments as an object: what they mean is right, however it is spelled.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeGuard, assert_never

from wireproof.model.scenario import Form, Mode
from wireproof.wire import sentinel, textual
from wireproof_scripts import steps as language
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import cursor

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wireproof.model.answer_terms import AnswerTerms
    from wireproof.model.dialect import Dialect

End = language.Finish | language.Fail | language.ErrorNotice | language.Crash | language.Hang | language.Raw
DELIMITER = "\n"  # the default of PROXY_TOOL_BLOCK_DELIMITER
"""Between the blocks of several calls."""

Arguments = dict[str, str]
"""What Cursor's agent service says of its own tools is text."""

_TOOLS: Mapping[type[language.Step], tuple[str, Mapping[str, str]]] = {
    cursor.Shell: ("bash", {"command": "command"}),
    cursor.Read: ("read", {"path": "filePath"}),
    cursor.Write: ("write", {"path": "filePath", "text": "content"}),
    cursor.Ls: ("list", {"path": "path"}),
    cursor.Grep: ("grep", {"pattern": "pattern", "path": "path"}),
    cursor.Glob: ("glob", {"pattern": "pattern", "path": "path"}),
}
"""What Cursor's agent service asks its client to run (contract, §12) → the tool's name, and its arguments by the fields
of the step."""


class ExpectedFailure(StrEnum):
    """How the backend fails, as far as the client can see it."""

    NONE = "none"
    """It does not."""
    BEFORE_OUTPUT = "before output"
    """Before any output: an HTTP error. In a whole answer every failure is one."""
    AFTER_TEXT = "after text"
    """After text: an error frame in the stream."""
    AFTER_CALL = "after a call"
    """After a complete call: nothing, since the client has what it needs."""
    IN_CALL = "inside a call"
    """Inside a call: an HTTP error or an error frame, depending on how much of the call the proxy had sent."""
    SILENT = "by saying nothing"
    """The backend never sends anything: an HTTP error or an error frame, as inside a call."""
    UNMET = "by not doing what was demanded"
    """It answers, but without the call or the JSON that the request demands: an error that names the field."""


NO_ANSWER = frozenset(
    {ExpectedFailure.BEFORE_OUTPUT, ExpectedFailure.IN_CALL, ExpectedFailure.SILENT, ExpectedFailure.UNMET}
)
"""Failures after which there need not be an answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpectedCall:
    """A call as the backend makes it."""

    id: str
    """Its id; "" when the backend gives none and the proxy makes one."""
    name: str
    """The tool's name."""
    arguments: str
    """Its arguments, the model's own characters; "" when the model wrote a block into its text."""
    block: str
    """Its block in the content of obsidian-xml."""
    exact: bool = True
    """Whether `arguments` are known to the character. A block written by the model gives their meaning only."""
    native: bool = False
    """Whether the backend makes it in its own form of calls."""
    meant: bool = False
    """Whether the backend carries `arguments` as data: members without an order, numbers as doubles. What they mean is
    known then, not how they are spelled."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """What the client must get in one choice."""

    text: str | None
    """The content without `blocks`; None when the backend reflects, so that it cannot be known beforehand."""
    blocks: tuple[str, ...] = ()
    """The blocks that follow the text in obsidian-xml's content."""
    calls: tuple[ExpectedCall, ...]
    """The calls, in order."""
    finish: str | None
    """The finish reason; None when the turn never ends, or fails before a call is complete."""
    usage: language.Usage | None
    """The backend's counts; None when it reports none."""
    failure: ExpectedFailure
    """How the backend fails."""
    cut: bool = False
    """Whether the answer was cut at its limit of tokens, whatever `finish` is (with calls it is still `tool_calls`)."""
    gates: tuple[language.Gate, ...] = ()
    """The gates that the backend waits at, in order."""
    asks: bool = False
    """Whether the backend asks for calls in its own form, whatever the answer carries of them."""
    stop: str = ""
    """The stop sequence that the answer ends before; "" where none ends it."""


@dataclass(kw_only=True, slots=True)
class _Said:
    """A part of a script, summed up to the step that ends it."""

    text: str = ""
    calls: list[ExpectedCall] = field(default_factory=list)
    begun: bool = False
    """A call was begun that never gets complete."""
    usage: language.Usage = field(default_factory=language.Usage)
    reflects: bool = False
    gates: list[language.Gate] = field(default_factory=list)
    end: End = field(default_factory=language.Finish)


def expected(part: Iterable[language.Step], form: Form, terms: AnswerTerms) -> Expected:
    """The right answer to a turn.

    Args:
        part: What the backend plays.
        form: The dialect and mode of the answer.
        terms: What the request demands of it.
    """
    said = _sum_up(part, terms)
    stop = _stop(said, terms)
    if stop:
        # What comes after it, calls and the backend's own end, is no part of the answer.
        said = _Said(text=said.text.partition(stop)[0], gates=said.gates)
    failure = _failure(said, form.mode)
    if failure is ExpectedFailure.NONE and _unmet(said, terms):
        return Expected(text="", calls=(), finish=None, usage=None, failure=ExpectedFailure.UNMET)
    if failure is ExpectedFailure.BEFORE_OUTPUT:
        return Expected(text="", calls=(), finish=None, usage=None, failure=failure)
    calls = _carried(said.calls, form, burst=terms.burst)
    if form.dialect.spec.arguments_are_data:
        calls = tuple(map(as_data, calls))
    asks = any(call.native for call in said.calls)
    if terms.blocks:
        text = said.text + DELIMITER.join(call.block for call in (said.calls if terms.burst else said.calls[:1]))
        # Without calls the end is that of a text: a response has its blocks or its items, never both (responses.xml).
        said, calls = _Said(text=text, usage=said.usage, end=said.end), ()
    textless = bool(calls) and form.mode is Mode.WHOLE and not form.dialect.spec.text_before_calls
    # After a failure, or a filter, the backend has no counts to report.
    counted = failure is ExpectedFailure.NONE and said.end != language.Finish("content_filter")
    return Expected(
        text=None if said.reflects else "" if textless else said.text,
        blocks=_blocks(calls, form, burst=terms.burst),
        calls=calls,
        finish=_finish(said, form.dialect),
        usage=said.usage if counted and not stop else None,
        failure=failure,
        cut=said.end == language.Finish("length"),
        gates=tuple(said.gates),
        asks=asks,
        stop=stop,
    )


def _stop(said: _Said, terms: AnswerTerms) -> str:
    """The stop sequence that comes first in the text; "" where none does."""
    found = [stop for stop in terms.stops if stop in said.text]
    return min(found, key=said.text.index, default="")


def _unmet(said: _Said, terms: AnswerTerms) -> bool:
    """Whether the backend does not do what the request demands."""
    uncalled = bool(terms.forced) and not any(call.name in terms.forced for call in said.calls)
    # Whether a text is JSON need not be looked at: what scripts say of themselves is prose.
    return uncalled or (terms.json and not said.reflects and not said.calls)


def _sum_up(part: Iterable[language.Step], terms: AnswerTerms) -> _Said:
    said = _Said()
    for step in part:
        if _ends(step):
            said.end = language.Hang() if isinstance(step, cursor.Trap) else step
            break
        if terms.tools and (call := agent_call(step)):
            said.calls.append(_of_agent(step, *call))
        _add(said, step, offered=terms.offered)
    return said


def _add(said: _Said, step: language.Step, *, offered: bool) -> None:
    """Add what a step does to the answer. Which are no part of it is written down: a new step must say what it is."""
    if isinstance(step, language.Spoken):
        _say(said, step.text, offered=offered)
        return
    if isinstance(step, language.Doing | language.Elsewhere):
        return
    match step:
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
        case (
            language.Think() | language.WebSearch() | language.Pause() | language.Pace() | language.Open()
            | language.Overload() | language.Fail() | language.Hang()
        ):  # fmt: skip
            pass
        case _:
            assert_never(step)


def _call(step: language.Call) -> ExpectedCall:
    block = textual.write_block(step.name, step.arguments)
    in_text = step.shape == "use-tool" and not step.also
    native = "native" in step.shapes
    return ExpectedCall(
        id=step.id, name=step.name, arguments=step.arguments, block=block, exact=not in_text, native=native
    )


def _of_agent(step: language.Step, name: str, arguments: dict[str, str]) -> ExpectedCall:
    """A call of one of the client's tools, for what the service asks for; its arguments have a row of their own."""
    block = textual.write_block(name, json.dumps(arguments))
    return ExpectedCall(id=getattr(step, "id", ""), name=name, arguments="", block=block, exact=False, native=True)


def _say(said: _Said, text: str, *, offered: bool) -> None:
    """Add text, unless a call came before; a block or sentinel that it completes is a call."""
    if said.calls:
        return  # text after a call is dropped
    # Blocks are looked for in all of the text: they may come in several steps.
    said.text += text
    # A block in the text is text then (turn.tool-choice-none).
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
    call = textual.read_block(found[1]) if found else None
    if found and call:
        said.text = found[0]
        # A block has no id, so the proxy makes one.
        said.calls.append(ExpectedCall(id="", name=call.name, arguments="", block=found[1], exact=False))


def _carried(calls: Sequence[ExpectedCall], form: Form, *, burst: bool) -> tuple[ExpectedCall, ...]:
    """The calls that an answer of this form has room for."""
    spec = form.dialect.spec
    one = spec.one_call or (not burst and (form.mode is Mode.STREAM or spec.wholes_obey))
    return tuple(calls[:1] if one else calls)


def as_data(call: ExpectedCall) -> ExpectedCall:
    """The call where arguments are an object: none of them is an empty one."""
    return replace(call, meant=True, arguments=call.arguments.strip() or "{}") if call.exact else call


def _blocks(calls: Sequence[ExpectedCall], form: Form, *, burst: bool) -> tuple[str, ...]:
    """The blocks in the content."""
    if not form.dialect.spec.blocks:
        return ()
    # A whole answer has all calls, but by default the block of the first alone (codex-story, criterion 18).
    return tuple(call.block for call in (calls if burst else calls[:1]))


def _failure(said: _Said, mode: Mode) -> ExpectedFailure:
    spoken = bool(said.text or said.calls or said.reflects)
    match said.end:
        case language.Finish():
            return ExpectedFailure.NONE
        case language.Hang():
            return ExpectedFailure.NONE if spoken or said.begun else ExpectedFailure.SILENT
        # Nothing was sent yet, so it can still be an HTTP error (codex-story, criterion 14).
        case _ if mode is Mode.WHOLE or not (spoken or said.begun):
            return ExpectedFailure.BEFORE_OUTPUT
        case _ if said.calls:
            return ExpectedFailure.AFTER_CALL
        case _:
            return ExpectedFailure.IN_CALL if said.begun else ExpectedFailure.AFTER_TEXT


def _ends(step: language.Step) -> TypeGuard[End | cursor.Trap]:
    """Whether the turn ends with this step: a finish of one choice leaves the others running."""
    match step:
        # Signs of life follow it without end.
        case cursor.Trap():
            return step.always
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


def calls_of(script: str) -> dict[str, dict[str, Any]]:
    """The arguments of each call that the first part of a script asks for, by the name of the tool."""
    return dict(filter(None, map(_tool_call, LIBRARY[script].parts[0])))


def _tool_call(step: language.Step) -> tuple[str, dict[str, Any]] | None:
    if isinstance(step, language.Call):
        return step.name, json.loads(step.arguments)
    return agent_call(step)


def agent_call(step: language.Step) -> tuple[str, Arguments] | None:
    """The name of the tool and its arguments; None for a step that no tool of a client runs."""
    for kind, (name, names) in _TOOLS.items():
        if isinstance(step, kind):
            values = {name: getattr(step, field) for field, name in names.items()}
            # What the service left out is not sent.
            return name, {name: value for name, value in values.items() if value}
    return None
