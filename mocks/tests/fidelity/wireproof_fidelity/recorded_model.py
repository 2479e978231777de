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
from wireproof_fidelity.observed import ObservedTurn
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
    turns: dict[str, ObservedTurn] = {}
    for text, observed in _turns(lines):
        turns.setdefault(text, observed)
    scripts = [_script(text, observed) for text, observed in turns.items()]
    scripts += [_summary(observed) for observed in turns.values() if observed.summaries]
    return {script.name: script for script in sorted(scripts, key=lambda script: -len(script.name))}


def _turns(lines: Sequence[Line]) -> Iterator[tuple[str, ObservedTurn]]:
    """The text of every turn and what was observed of it."""
    running: dict[str, ObservedTurn] = {}
    asked: dict[str, str] = {}
    number = 0
    owners: dict[str, ObservedTurn] = {}
    for line in lines:
        message = line.message or {}
        params = message.get("params") or {}
        thread = str(params.get("threadId") or params.get("conversationId"))
        if line.sent and "method" in message:
            asked[thread] = _text(params) or asked.get(thread, "")
        if line.sent and thread in running:
            running[thread].interrupted()
        if line.sent and message.get("method") in _BEGINS:
            running[thread] = ObservedTurn(number=number)
            number += 1
            yield asked[thread], running[thread]
        elif not line.sent and thread in running:
            owner = owners.setdefault(params["itemId"], running[thread]) if "itemId" in params else running[thread]
            owner.observe(message)


def _text(params: Mapping[str, Any]) -> str:
    """What the user asks for in a turn's input, or in what is put before it."""
    items = [item for item in params.get("input") or params.get("items") or () if isinstance(item, dict)]
    parts = [part for item in items for part in (item.get("content") or () if "role" in item else [item])]
    texts = [part.get("data", part).get("text") for part in parts if isinstance(part, dict)]
    return next((text for text in reversed(texts) if isinstance(text, str)), "")


def _script(text: str, observed: ObservedTurn) -> Script:
    name, argument = ([("", ""), *_WORD.findall(text)])[-1]
    parts: Parts = _unreached(observed) or _WORDS.get(name, _plain)(argument, observed)
    priced = tuple(part if _UNPRICED in part else (*part, USAGE) for part in parts)
    return Script(name=text, title="", when=text or None, parts=priced)


def _summary(observed: ObservedTurn) -> Script:
    """The model sums up in its usual words, once enough is left out: the beginning of each try is sent."""
    tries = observed.summaries - _ENDS
    parts: Parts = (*((Fail("context-window"),) for _ in range(tries - 1)), (*observed.said(0), USAGE))
    return Script(name=PROMPT, title="", when=PROMPT, parts=parts)


def _unreached(observed: ObservedTurn) -> Parts:
    """Why no model was reached, if none was."""
    if observed.waits:
        return (
            (
                *(
                    Retry(attempts=0, details=NEWEST.failures.causes["no-network"].message)
                    for _ in range(observed.retries)
                ),
                Hang(),
            ),
        )
    return ((Fail(observed.trouble),),) if observed.trouble else ()


# What the words mean


def _plain(argument: str, observed: ObservedTurn) -> Parts:
    del argument
    return ((*observed.said(0),),)


def _unpriced(argument: str, observed: ObservedTurn) -> Parts:
    del argument
    return ((*observed.said(0), _UNPRICED),)


def _whole(argument: str, observed: ObservedTurn) -> Parts:
    del argument
    return ((Say((observed.whole,), whole=True),),)


def _slow(argument: str, observed: ObservedTurn) -> Parts:
    """It had not ended when the client went on."""
    del argument
    pieces = next(iter(observed.texts.values()), [])
    said, rest = pieces[: observed.until], pieces[len(pieces) if observed.until is None else observed.until :]
    before: tuple[Step, ...] = (Say(tuple(said)),) if said else ()
    if rest:
        return ((*before, Pause(_MOMENT), Say(tuple(rest))),)
    return (before if observed.completed else (*before, Hang()),)


def _cut(argument: str, observed: ObservedTurn) -> Parts:
    """It was asked again as often as that was sent."""
    del argument
    tries: list[Step] = []
    for number in range(1, observed.retries + 1):
        tries += [*observed.said(number - 1), Retry(attempt=number, attempts=observed.retries)]
    return ((*tries, *observed.said(observed.retries), Fail("cut")),)


def _failing(cause: Callable[[str], str]) -> Callable[[str, ObservedTurn], Parts]:
    return lambda argument, observed: ((*observed.said(0), Fail(cause(argument))),)


def _incomplete(argument: str, observed: ObservedTurn) -> Parts:
    reasons: Mapping[str, Finish] = {
        "max_output_tokens": Finish("length"),
        "content_filter": Finish("content_filter"),
    }
    return ((*observed.said(0), USAGE, reasons[argument]),)


def _thinking(argument: str, observed: ObservedTurn) -> Parts:
    del argument
    thought = Think("".join(observed.summary), tuple(observed.summary), tuple(observed.thoughts), observed.encrypted)
    return ((thought, *observed.said(0)),)


def _calling(argument: str, observed: ObservedTurn) -> Parts:
    name, _, arguments = argument.partition("|")
    return (Call(id=observed.call(0), name=name, arguments=arguments),), observed.said(-1)


def _programming(argument: str, observed: ObservedTurn) -> Parts:
    tool, arguments = observed.tool
    source = argument.partition("|")[2]
    code = Code(id=f"call_{observed.number}", source=source, tool=tool, arguments=json.dumps(arguments), output="?")
    return (code,), observed.said(-1)


def _commanding(argument: str, observed: ObservedTurn) -> Parts:
    if not observed.calls:  # refused before it began
        return _calling("exec_command|{}", observed)
    if "*** Add File: " in argument:
        path, _, rest = argument.partition("*** Add File: ")[2].partition("\n")
        content = "".join(f"{line[1:]}\n" for line in rest.split("\n") if line.startswith("+"))
        return (Patch(id=observed.call(0), path=path, content=content),), observed.said(-1)
    reason = "stub wants it" if observed.escalated else ""
    command = Command(
        id=observed.call(0),
        command=argument,
        output=observed.output,
        pieces=tuple(observed.pieces),
        stderr=observed.stderr,
        status=observed.status,
        reason=reason,
        asks="always" if observed.asked else "never",
    )
    return (command,), observed.said(-1)


def _calling_twice(argument: str, observed: ObservedTurn) -> Parts:
    name, _, arguments = argument.partition("|")
    calls = [Call(id=observed.call(index), name=name, arguments=arguments) for index in range(2)]
    return (*observed.said(0), *calls), observed.said(-1)


_FAILED = {
    "context_length_exceeded": "context-window",
    "insufficient_quota": "quota",
    "rate_limit_exceeded": "rate-limit",
    "server_is_overloaded": "overloaded",
    "invalid_prompt": "invalid-prompt",
    "server_error": "server-error",
}

_WORDS: Mapping[str, Callable[[str, ObservedTurn], Parts]] = {
    "nousage": _unpriced,
    "nodelta": _whole,
    "slow": _slow,
    "reason": _thinking,
    "fn": _calling,
    "shell": _commanding,
    "shellesc": _commanding,
    "patch": lambda _, observed: _calling("apply_patch|{}", observed),
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
