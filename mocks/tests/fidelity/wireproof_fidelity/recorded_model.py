"""The model that stood behind the recorded servers, as scripts: the last `[[word:argument]]` of a user's text chose.

What it said is taken from the recording (the deltas, the ids of its calls); how it ended is what the word means. After
the results of its calls it said what the last of them was.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from wireproof_codex.turns.compaction import PROMPT
from wireproof_codex.versions.version import NEWEST
from wireproof_fidelity.observed import Heard
from wireproof_scripts.steps import (
    Call,
    Code,
    Command,
    Fail,
    Finish,
    Hang,
    Parts,
    Patch,
    Pause,
    Retry,
    Say,
    Script,
    Step,
    Think,
    Usage,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from wireproof_fidelity.recording import Line

_UNPRICED = Usage(unknown=True)
USAGE = Usage(input=120, output=30, cached=20, reasoning=5)

_WORD = re.compile(r"\[\[([a-z0-9_]+):?([^\]]*)\]\]")
_ENDS = 2  # what the summary costs, and how long the conversation is now
_MOMENT = 0.001  # over before the client goes on
_BEGINS = frozenset({"turn/start", "sendUserMessage", "sendUserTurn"})


def recorded_model(lines: Sequence[Line]) -> Mapping[str, Script]:
    """The scripts that a recording's turns played, the longest texts first."""
    turns: dict[str, Heard] = {}
    for text, heard in _turns(lines):
        turns.setdefault(text, heard)
    scripts = [_script(text, heard) for text, heard in turns.items()]
    scripts += [_summary(heard) for heard in turns.values() if heard.summaries]
    return {script.name: script for script in sorted(scripts, key=lambda script: -len(script.name))}


def _turns(lines: Sequence[Line]) -> Iterator[tuple[str, Heard]]:
    """The text of every turn and what was heard of it."""
    running: dict[str, Heard] = {}
    asked: dict[str, str] = {}
    number = 0
    owners: dict[str, Heard] = {}
    for line in lines:
        message = line.message or {}
        params = message.get("params") or {}
        thread = str(params.get("threadId") or params.get("conversationId"))
        if line.sent and "method" in message:
            asked[thread] = _text(params) or asked.get(thread, "")
        if line.sent and thread in running:
            running[thread].interrupted()
        if line.sent and message.get("method") in _BEGINS:
            running[thread] = Heard(number=number)
            number += 1
            yield asked[thread], running[thread]
        elif not line.sent and thread in running:
            owner = owners.setdefault(params["itemId"], running[thread]) if "itemId" in params else running[thread]
            owner.hear(message)


def _text(params: Mapping[str, Any]) -> str:
    """What the user asks for in a turn's input, or in what is put before it."""
    items = [item for item in params.get("input") or params.get("items") or () if isinstance(item, dict)]
    parts = [part for item in items for part in (item.get("content") or () if "role" in item else [item])]
    texts = [part.get("data", part).get("text") for part in parts if isinstance(part, dict)]
    return next((text for text in reversed(texts) if isinstance(text, str)), "")


def _script(text: str, heard: Heard) -> Script:
    name, argument = ([("", ""), *_WORD.findall(text)])[-1]
    parts: Parts = _unreached(heard) or _WORDS.get(name, _plain)(argument, heard)
    priced = tuple(part if _UNPRICED in part else (*part, USAGE) for part in parts)
    return Script(name=text, title="", when=text or None, parts=priced)


def _summary(heard: Heard) -> Script:
    """The model sums up in its usual words, once enough is left out: of each try it was told that it begins."""
    tries = heard.summaries - _ENDS
    parts: Parts = (*((Fail("context-window"),) for _ in range(tries - 1)), (*heard.said(0), USAGE))
    return Script(name=PROMPT, title="", when=PROMPT, parts=parts)


def _unreached(heard: Heard) -> Parts:
    """Why no model was reached, if none was."""
    if heard.waits:
        return (
            (
                *(
                    Retry(attempts=0, details=NEWEST.failures.causes["no-network"].message)
                    for _ in range(heard.retries)
                ),
                Hang(),
            ),
        )
    return ((Fail(heard.trouble),),) if heard.trouble else ()


# What the words mean


def _plain(argument: str, heard: Heard) -> Parts:
    del argument
    return ((*heard.said(0),),)


def _unpriced(argument: str, heard: Heard) -> Parts:
    del argument
    return ((*heard.said(0), _UNPRICED),)


def _whole(argument: str, heard: Heard) -> Parts:
    del argument
    return ((Say((heard.whole,), whole=True),),)


def _slow(argument: str, heard: Heard) -> Parts:
    """It had not ended when the client went on."""
    del argument
    pieces = next(iter(heard.texts.values()), [])
    said, rest = pieces[: heard.until], pieces[len(pieces) if heard.until is None else heard.until :]
    before: tuple[Step, ...] = (Say(tuple(said)),) if said else ()
    if rest:
        return ((*before, Pause(_MOMENT), Say(tuple(rest))),)
    return (before if heard.completed else (*before, Hang()),)


def _cut(argument: str, heard: Heard) -> Parts:
    """It was asked again as often as that was told."""
    del argument
    tries: list[Step] = []
    for number in range(1, heard.retries + 1):
        tries += [*heard.said(number - 1), Retry(attempt=number, attempts=heard.retries)]
    return ((*tries, *heard.said(heard.retries), Fail("cut")),)


def _failing(cause: Callable[[str], str]) -> Callable[[str, Heard], Parts]:
    return lambda argument, heard: ((*heard.said(0), Fail(cause(argument))),)


def _incomplete(argument: str, heard: Heard) -> Parts:
    reasons: Mapping[str, Finish] = {
        "max_output_tokens": Finish("length"),
        "content_filter": Finish("content_filter"),
    }
    return ((*heard.said(0), USAGE, reasons[argument]),)


def _thinking(argument: str, heard: Heard) -> Parts:
    del argument
    thought = Think("".join(heard.summary), tuple(heard.summary), tuple(heard.thoughts), heard.encrypted)
    return ((thought, *heard.said(0)),)


def _calling(argument: str, heard: Heard) -> Parts:
    name, _, arguments = argument.partition("|")
    return (Call(id=heard.call(0), name=name, arguments=arguments),), heard.said(-1)


def _programming(argument: str, heard: Heard) -> Parts:
    tool, arguments = heard.tool
    source = argument.partition("|")[2]
    code = Code(id=f"call_{heard.number}", source=source, tool=tool, arguments=json.dumps(arguments), output="?")
    return (code,), heard.said(-1)


def _commanding(argument: str, heard: Heard) -> Parts:
    if not heard.calls:  # refused before it began
        return _calling("exec_command|{}", heard)
    if "*** Add File: " in argument:
        path, _, rest = argument.partition("*** Add File: ")[2].partition("\n")
        content = "".join(f"{line[1:]}\n" for line in rest.split("\n") if line.startswith("+"))
        return (Patch(id=heard.call(0), path=path, content=content),), heard.said(-1)
    reason = "stub wants it" if heard.escalated else ""
    command = Command(
        id=heard.call(0),
        command=argument,
        output=heard.output,
        pieces=tuple(heard.pieces),
        stderr=heard.stderr,
        status=heard.status,
        reason=reason,
        asks="always" if heard.asked else "never",
    )
    return (command,), heard.said(-1)


def _calling_twice(argument: str, heard: Heard) -> Parts:
    name, _, arguments = argument.partition("|")
    calls = [Call(id=heard.call(index), name=name, arguments=arguments) for index in range(2)]
    return (*heard.said(0), *calls), heard.said(-1)


_FAILED = {
    "context_length_exceeded": "context-window",
    "insufficient_quota": "quota",
    "rate_limit_exceeded": "rate-limit",
    "server_is_overloaded": "overloaded",
    "invalid_prompt": "invalid-prompt",
    "server_error": "server-error",
}

_WORDS: Mapping[str, Callable[[str, Heard], Parts]] = {
    "nousage": _unpriced,
    "nodelta": _whole,
    "slow": _slow,
    "reason": _thinking,
    "fn": _calling,
    "shell": _commanding,
    "shellesc": _commanding,
    "patch": lambda _, heard: _calling("apply_patch|{}", heard),
    "fn2": _calling_twice,
    "ctc": _programming,
    "http": _failing(lambda status: f"http-{status}"),
    "ctx400": _failing(lambda _: "http-400-context"),
    "usage_limit": _failing(lambda _: "usage-limit"),
    "failed": _failing(lambda argument: _FAILED[argument.partition(",")[0]]),
    "cut": _cut,
    "empty_stream": _failing(lambda _: "cut"),
    "hang": _failing(lambda _: "idle"),
    "incomplete": _incomplete,
}
