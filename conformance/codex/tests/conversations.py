"""The conversations that are had with a real app-server and with the mock, by name."""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from exec_runs import LAST, SCHEMA, THREAD, Run

from wireproof_codex.versions.failures import CAUSES_0_89
from wireproof_codex.versions.marks import minor
from wireproof_mocks.upstream.failing import FAILURES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from app_server import Message, Talk
from wireproof_fidelity.scripts import SCRIPTS
from wireproof_fidelity.table import CORE


def _nothing(_talk: Talk) -> None:
    """What is said to an app-server that is not there."""


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """What a client says; from which version on, and for how long its model's service may be silent (milliseconds).

    `crossing`: threads talk at the same time, so that only what is said of each has an order. `hostile`: it is no
    client of use that says so.
    """

    have: Callable[[Talk], object] = _nothing
    runs: Sequence[Run] = ()
    """What a client starts instead: runs of `codex exec`, one after the other."""
    since: str = "0.89.0"
    until: str | None = None
    """The first version that has it no longer."""
    idle_ms: int = 20_000
    crossing: bool = False
    hostile: bool = False
    served: bool = False
    """Codex is configured with an MCP server, `mini`."""

    def is_of(self, version: str) -> bool:
        """Whether it can be had with this version."""
        return minor(self.since) <= minor(version) and (self.until is None or minor(version) < minor(self.until))


def marked(script: str, nonce: str = "n") -> str:
    """A text that asks for a script."""
    return f"Grüße: [[wireproof:{script}#{nonce}]]"


def _turn(script: str, talk: Talk, tools: Sequence[str] = (), **params: object) -> None:
    talk.whole_turn(talk.thread(*tools, **params), marked(script))


_raw = partial(_turn, experimentalRawEvents=True)
_undeclared_tool = partial(_turn, tools=("localSearch",), ephemeral=True)


def _text(text: str, talk: Talk) -> None:
    talk.whole_turn(talk.thread(), text)


def _second_turn(talk: Talk) -> None:
    thread = talk.thread()
    for _ in range(2):
        talk.whole_turn(thread, marked("two-turns"))


def _after_failure(talk: Talk) -> None:
    thread = talk.thread()
    for script in ("cause/http-500", "text/hello"):
        talk.whole_turn(thread, marked(script))


def _interrupt(talk: Talk) -> None:
    thread = talk.thread()
    turn = talk.turn(thread, marked("text/hang"))
    talk.notified("item/agentMessage/delta", times=5)
    talk.interrupt(thread, turn)
    talk.whole_turn(thread, marked("text/hello"))


def _interrupt_silence(talk: Talk) -> None:
    thread = talk.thread()
    turn = talk.turn(thread, marked("fail/silent"))
    talk.notified("account/rateLimits/updated")
    talk.interrupt(thread, turn)


def _second_fails(script: str, talk: Talk) -> None:
    """Where tokens were counted before."""
    thread = talk.thread()
    for one in ("text/usage", script):
        talk.whole_turn(thread, marked(one))


def _second_interrupted(talk: Talk) -> None:
    thread = talk.thread()
    talk.whole_turn(thread, marked("text/usage"))
    turn = talk.turn(thread, marked("two-deltas"))
    talk.notified("item/agentMessage/delta", times=4)
    talk.interrupt(thread, turn)


def _one_tool(talk: Talk) -> None:
    talk.turn(talk.thread("localSearch", ephemeral=True), marked("call/then-text"))
    talk.answer(talk.called(), contentItems=[{"type": "inputText", "text": "gefunden: 3"}], success=True)
    talk.over()


def _tool_loses(talk: Talk) -> None:
    talk.turn(talk.thread("localSearch"), marked("call/one"))
    talk.answer(talk.called(), contentItems=[{"type": "inputText", "text": "locked"}], success=False)
    talk.over()


def _two_tools(talk: Talk) -> None:
    """The second call comes when the first was sent: else the real server may send either first.

    Older versions ask for one at a time, and for which of two first is chance.
    """
    talk.turn(talk.thread("localSearch", "readNote"), marked("calls"))
    calls = [talk.called()]
    talk.whole_turn(talk.thread(), marked("open/gate"))
    calls.append(talk.called())
    for call in calls:
        talk.answer(call, contentItems=[{"type": "inputText", "text": call["params"]["tool"]}], success=True)
    talk.over()


def _steps(talk: Talk) -> None:
    talk.turn(talk.thread("localSearch", "readNote"), marked("call/steps"))
    for _ in range(2):
        talk.answer(talk.called(), contentItems=[], success=True)
    talk.over()


def _raw_tool(talk: Talk) -> None:
    talk.turn(talk.thread("localSearch", experimentalRawEvents=True), marked("call/then-text"))
    call = talk.called()
    talk.notified("rawResponse/completed")
    talk.answer(call, contentItems=[{"type": "inputText", "text": "found"}], success=True)
    talk.over()


def _held_tool(talk: Talk) -> None:
    """The call is answered when the client has come back in another thread."""
    thread = talk.thread("localSearch")
    talk.turn(thread, marked("call/then-text"))
    call = talk.called()
    talk.whole_turn(talk.thread(), marked("text/hello"))
    talk.answer(call, contentItems=[{"type": "inputText", "text": "late"}], success=True)
    talk.over()


def _interrupted_tool(script: str, talk: Talk) -> None:
    thread = talk.thread("localSearch")
    turn = talk.turn(thread, marked(script))
    call = _called_and_gone_on(talk)
    talk.interrupt(thread, turn)
    talk.send({"id": call["id"], "result": {"contentItems": [], "success": True}})
    talk.whole_turn(thread, marked("text/hello"))


def _cut_off(script: str, talk: Talk) -> None:
    """The model's answer breaks off after the call; the client answers it all the same."""
    talk.turn(talk.thread("localSearch", experimentalRawEvents=True), marked(script))
    talk.answer(_called_and_gone_on(talk), contentItems=[{"type": "inputText", "text": "found"}], success=True)
    talk.over()


def _called_and_gone_on(talk: Talk) -> Message:
    """A call, when what comes with it and after it has come, too: another thread has had its turn meanwhile."""
    call = talk.called()
    talk.whole_turn(talk.thread(), marked("text/hello"))
    return call


def _two_cut_off(talk: Talk) -> None:
    """The calls are answered the other way round."""
    talk.turn(talk.thread("localSearch", "readNote", experimentalRawEvents=True), marked("calls-cut"))
    calls = [talk.called()]
    talk.whole_turn(talk.thread(), marked("open/gate"))
    calls.append(_called_and_gone_on(talk))
    for call in reversed(calls):
        talk.answer(call, contentItems=[{"type": "inputText", "text": call["params"]["tool"]}], success=True)
    talk.over()


def _cut_off_interrupted(script: str, talk: Talk) -> None:
    thread = talk.thread("localSearch", experimentalRawEvents=True)
    turn = talk.turn(thread, marked(script))
    _called_and_gone_on(talk)
    talk.interrupt(thread, turn)


def _cut_off_steered(script: str, talk: Talk) -> None:
    """There is more to answer, so the turn goes on."""
    thread = talk.thread("localSearch")
    talk.turn(thread, marked(script))
    call = _called_and_gone_on(talk)
    talk.turn(thread, marked("text/hello", "m"))
    talk.answer(call, contentItems=[], success=True)
    talk.over()


def _wrong_answer(talk: Talk) -> None:
    talk.turn(talk.thread("localSearch"), marked("call/then-text"))
    talk.answer(talk.called(), wrong=True)
    talk.over()


def _error_as_answer(talk: Talk) -> None:
    talk.turn(talk.thread("localSearch"), marked("call/then-text"))
    talk.send({"id": talk.called()["id"], "error": {"code": -32000, "message": "no"}})
    talk.over()


_HISTORY = (
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": marked("call/then-text")}]},
    {"type": "function_call", "name": "localSearch", "arguments": "{}", "call_id": "call_search"},
    {"type": "function_call_output", "call_id": "call_search", "output": "found"},
)


def _injected(talk: Talk) -> None:
    """The model goes on with a history that brings the result of its call."""
    thread = talk.thread("localSearch", ephemeral=True)
    talk.ask("thread/inject_items", threadId=thread, items=_HISTORY)
    talk.whole_turn(thread, None)


def _resumed(talk: Talk) -> None:
    """A thread that is resumed with a history is a new one, whatever its id; the history names the script."""
    history = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": marked("text/hello")}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Well."}]},
    ]
    nobody = "00000000-0000-0000-0000-000000000000"
    answer = talk.ask("thread/resume", threadId=nobody, history=history, developerInstructions="Be terse.")
    thread = answer["thread"]["id"]
    talk.whole_turn(thread, "Go on.")
    talk.ask("thread/archive", threadId=thread)


def _schema(talk: Talk) -> None:
    talk.whole_turn(talk.thread(), marked("text/hello"), outputSchema={"type": "object", "properties": {}})


def _overrides(talk: Talk) -> None:
    thread = talk.thread()
    for model in ("other-model", None):
        talk.whole_turn(thread, marked("text/hello"), **({"model": model, "effort": "high"} if model else {}))


def _instructed(talk: Talk) -> None:
    talk.whole_turn(
        talk.thread(baseInstructions="Be a heron.", developerInstructions="Be terse."), marked("text/hello")
    )


def _wrong_tool(talk: Talk) -> None:
    talk.ask("thread/start", dynamicTools=[{"name": "no name", "description": "", "inputSchema": {}}])


def _wrong_requests(talk: Talk) -> None:
    talk.ask("turn/start", threadId="00000000-0000-7000-8000-000000000000", input=[])
    talk.ask("turn/start", threadId="no id", input=[])
    talk.ask("turn/start", input=[])
    talk.ask("initialize", clientInfo={"name": "wireproof", "version": "1"})


def _full(script: str, talk: Talk) -> None:
    """The turn after one that filled the context begins with a summary."""
    thread = talk.thread(experimentalRawEvents=script != "full-for-long")
    for one in (script, "text/hello", "text/hello"):
        talk.whole_turn(thread, marked(one))


def _full_of_calls(talk: Talk) -> None:
    """A turn is interrupted for a summary."""
    talk.turn(talk.thread("localSearch"), marked("full-of-calls"))
    talk.answer(talk.called(), contentItems=[], success=True)
    talk.over()


def _sum(script: str, talk: Talk) -> None:
    thread = talk.thread(experimentalRawEvents=True)
    talk.whole_turn(thread, marked(script))
    talk.ask("thread/compact/start", threadId=thread)
    talk.over()
    talk.whole_turn(thread, marked("text/hello"))


def _sum_interrupted(talk: Talk) -> None:
    thread = talk.thread()
    talk.whole_turn(thread, marked("sum-hangs"))
    talk.notified("turn/started")
    talk.ask("thread/compact/start", threadId=thread)
    turn = talk.notified("turn/started")["turn"]["id"]
    talk.notified("thread/tokenUsage/updated", times=2)
    talk.notified("account/rateLimits/updated", times=2)
    talk.ask("turn/start", threadId=thread, input=[{"type": "text", "text": marked("text/hello")}])
    talk.ask("turn/steer", threadId=thread, expectedTurnId=turn, input=[{"type": "text", "text": "x"}])
    talk.interrupt(thread, turn)


def _sum_instead(talk: Talk) -> None:
    """The turn that runs makes way for a summary."""
    thread = talk.thread()
    talk.turn(thread, marked("hangs-then-sum"))
    talk.notified("item/agentMessage/delta", times=2)
    talk.ask("thread/compact/start", threadId=thread)
    talk.over()
    talk.over()


# What is kept of a conversation


def _history(talk: Talk) -> None:
    """A client lists, reads, puts away, takes back and resumes a thread."""
    thread = talk.thread()
    talk.whole_turn(thread, marked("text/hello"))
    talk.ask("thread/read", threadId=thread, includeTurns=True)
    talk.ask("thread/list")
    talk.ask("thread/loaded/list")
    talk.ask("thread/archive", threadId=thread)
    talk.ask("thread/list", archived=True)
    talk.ask("thread/read", threadId=thread)
    talk.ask("thread/resume", threadId=thread)
    talk.ask("thread/unarchive", threadId=thread)
    talk.ask("thread/resume", threadId=thread)
    talk.whole_turn(thread, marked("text/usage"))


def _archived_in_mid_turn(talk: Talk) -> None:
    thread = talk.thread()
    talk.turn(thread, marked("text/hang"))
    talk.notified("item/agentMessage/delta", times=5)
    talk.ask("thread/archive", threadId=thread)
    talk.ask("thread/loaded/list")
    other = talk.thread()
    talk.turn(other, marked("text/hello"))
    talk.receive(lambda message: message.get("method") == "turn/completed" and message["params"]["threadId"] == other)


def _forked(talk: Talk) -> None:
    thread = talk.thread()
    talk.whole_turn(thread, marked("text/hello"))
    fork = talk.ask("thread/fork", threadId=thread)["thread"]["id"]
    talk.whole_turn(fork, marked("text/usage"))
    talk.ask("thread/read", threadId=thread, includeTurns=True)
    talk.ask("thread/read", threadId=fork, includeTurns=True)


def _named(talk: Talk) -> None:
    thread = talk.thread()
    talk.whole_turn(thread, marked("text/hello"))
    talk.ask("thread/name/set", threadId=thread, name="Herons")
    talk.ask("thread/list")


def _settled(talk: Talk) -> None:
    """Settings of a thread are changed without a turn, and what changes nothing is sent once more."""
    thread = talk.thread()
    for changed, is_new in (
        ({"model": "other-model"}, True),
        ({"model": "other-model"}, False),
        ({"effort": "high"}, True),
        ({"approvalPolicy": "never"}, False),
    ):
        talk.ask("thread/settings/update", threadId=thread, **changed)
        if is_new:  # else the real server may send what two of them change as one
            talk.notified("thread/settings/updated")
    talk.whole_turn(thread, marked("text/hello"))


def _moved(talk: Talk) -> None:
    """A turn has a folder and a personality of its own, which the next one keeps."""
    thread = talk.thread()
    talk.whole_turn(thread, marked("text/hello"), cwd="/", personality="friendly")
    talk.whole_turn(thread, marked("text/hello"))
    talk.ask("thread/resume", threadId=thread)


def _unsubscribed(talk: Talk) -> None:
    thread = talk.thread()
    talk.whole_turn(thread, marked("text/hello"))
    talk.ask("thread/unsubscribe", threadId=thread)
    talk.ask("thread/loaded/list")
    talk.ask("thread/unsubscribe", threadId=thread)


def _steered(talk: Talk) -> None:
    thread = talk.thread()
    turn = talk.turn(thread, marked("text/hang"))
    talk.notified("item/agentMessage/delta", times=5)
    talk.ask("turn/steer", threadId=thread, expectedTurnId="no turn", input=[{"type": "text", "text": "x"}])
    talk.interrupt(thread, turn)
    talk.ask("turn/steer", threadId=thread, expectedTurnId=turn, input=[{"type": "text", "text": "x"}])


def _unknown_method(talk: Talk) -> None:
    talk.ask("no/such")


def _asked_at_start(talk: Talk) -> None:
    for method in ("account/read", "thread/loaded/list", "mcpServerStatus/list", "thread/list"):
        talk.ask(method)
    talk.send({"id": "limits", "method": "account/rateLimits/read"})
    talk.receive(lambda message: message.get("id") == "limits")


def _namespaced_tool(talk: Talk) -> None:
    tool = {"type": "function", "name": "find", "description": "", "inputSchema": {}}
    space = {"type": "namespace", "name": "notes", "description": "Notes.", "tools": [tool]}
    talk.turn(talk.thread(dynamicTools=[space], experimentalRawEvents=True), marked("namespaced"))
    talk.answer(talk.called(), contentItems=[{"type": "inputText", "text": "found"}], success=True)
    talk.over()


def _answered_wrongly(result: object, talk: Talk) -> None:
    talk.turn(talk.thread("localSearch"), marked("call/then-text"))
    call = talk.called()
    talk.send({"id": call["id"], "result": result})
    talk.over()


# Results of a tool that are none
_WRONG_RESULTS: Mapping[str, object] = {
    "null": None,
    "a text": "found",
    "without success": {"contentItems": []},
    "success a text": {"contentItems": [], "success": "true"},
    "items a text": {"contentItems": "found", "success": True},
    "an item of no type": {"contentItems": [{"text": "found"}], "success": True},
    "an item of an unknown type": {"contentItems": [{"type": "text", "text": "found"}], "success": True},
    "an item without its text": {"contentItems": [{"type": "inputText"}], "success": True},
    "a text that is none": {"contentItems": [{"type": "inputText", "text": 7}], "success": True},
    "an image without its place": {"contentItems": [{"type": "inputImage"}], "success": True},
    "an image at a place that is none": {"contentItems": [{"type": "inputImage", "imageUrl": None}], "success": True},
    "more than is known": {"contentItems": [{"type": "inputText", "text": "x", "more": 1}], "success": True, "more": 1},
}


# Runs of `codex exec`: first for programs, then once more for people


def _run(script: str, *arguments: str) -> Run:
    return Run(arguments=(*arguments, marked(script)))


_EXEC_SCRIPTS = (
    "text/hello", "text/utf8", "text/empty", "text/thinking", "text/usage", "two-messages", "phases", "no-counts",
    "length", "run", "run-fails", "add", "planned", "searched", "unknown", "cause/http-400", "cause/http-401",
    "cause/http-500", "cause/usage-limit", "cause/overloaded", "cause/context-window", "cause/cut",
    "cause-late/server-error", "cause-late/cut",
)  # fmt: skip
_EXEC: Mapping[str, Sequence[Run]] = {
    **{script: (_run(script),) for script in _EXEC_SCRIPTS},
    "resumed": (_run("text/usage"), _run("run", "resume", THREAD), _run("text/hello", "resume", "--last")),
    "resumed after a failure": (_run("cause/http-500"), _run("text/hello", "resume", "--last")),
    "nothing to resume": (_run("text/hello", "resume", "00000000-0000-7000-8000-000000000000"),),
    "output schema": (_run("text/hello", "--output-schema", SCHEMA),),
    "no output schema": (_run("text/hello", "--output-schema", "nowhere.json"),),
    "last message": (_run("two-messages", "--output-last-message", LAST),),
    "last message of a failure": (_run("cause-late/server-error", "-o", LAST),),
    "model": (_run("text/hello", "--model", "other-model", "-c", 'model_reasoning_effort="high"'),),
    "prompt from standard input": (Run(arguments=(), given=marked("text/hello")),),
    "prompt from a dash": (Run(arguments=("-",), given=f"{marked('text/hello')}\n"),),
    "prompt and standard input": (replace(_run("text/hello"), given="more\n"),),
    "no prompt": (Run(arguments=()),),
    "closed standard input": (replace(_run("text/hello"), given=None),),
    "no prompt, closed standard input": (Run(arguments=(), given=None),),
    "interrupted": (replace(_run("begun"), signalled=signal.SIGINT), _run("text/hello", "resume", "--last")),
    "terminated": (replace(_run("begun"), signalled=signal.SIGTERM),),
    "unknown option": (_run("text/hello", "--no-such-option"),),
}


def _for_both(runs: Sequence[Run]) -> tuple[Run, ...]:
    programs = (replace(run, arguments=("--json", *run.arguments)) for run in runs)
    # A marker of its own, or the script would go on.
    people = (
        replace(run, arguments=tuple(map(_again, run.arguments)), given=run.given and _again(run.given)) for run in runs
    )
    return *programs, *people


def _again(text: str) -> str:
    return text.replace("#n]]", "#p]]")


TEXTS = (
    "text/hello", "text/utf8", "text/empty", "text/repeats", "text/markup", "text/long", "text/thinking", "text/usage",
    "two-messages", "phases", "length", "filter", "failed-thought", "sentinel/plain", "textual/any-cut",
    "no-deltas", "no-counts", "citation", "citation-alone", "held-back",
)  # fmt: skip
FAILING = tuple(f"cause/{cause}" for cause in CAUSES_0_89 if cause in FAILURES)
FAILING_LATE = tuple(script for script in SCRIPTS if script.startswith("cause-late/"))
IDLE_MS = 400
"""For how long a service may be silent where silence is a failure."""

_CORE = (
    "unknown method", "wrong requests", "history", "forked", "text/thinking", "two-messages", "second turn", "length",
    "cause/http-500", "cause/usage-limit", "overrides", "one tool", "unknown tool with raw events",
    "thoughts with raw events", "interrupt", "archived in mid-turn", "resumed with a history",
)  # fmt: skip


_SETS = {CORE: _CORE, "own_tools": ("planned", "searched", "served")}


def _all_of(names: Sequence[str], version: str, talk: Talk) -> None:
    for name in names:
        if CONVERSATIONS[name].is_of(version):
            talk.forget()
            CONVERSATIONS[name].have(talk)


def measured(scenario: str, version: str) -> Conversation:
    """What a version is recorded with: conversations one after the other.

    `core` has text, tools, an interrupt, failures, history and what is refused; `own_tools` what Codex runs itself.
    """
    names = _SETS[scenario]
    served = any(CONVERSATIONS[name].served for name in names)
    return Conversation(have=partial(_all_of, names, version), served=served)


CONVERSATIONS: Mapping[str, Conversation] = {
    **{script: Conversation(have=partial(_turn, script)) for script in TEXTS},
    **{
        script: Conversation(have=partial(_turn, script), idle_ms=IDLE_MS if script.endswith("/idle") else 20_000)
        for script in (*FAILING, *FAILING_LATE)
    },
    "default answer": Conversation(have=partial(_text, "Good morning")),
    "ephemeral": Conversation(have=partial(_turn, "text/hello", ephemeral=True, environments=[]), since="0.125.0"),
    "second turn": Conversation(have=_second_turn),
    "after a failure": Conversation(have=_after_failure),
    "interrupt": Conversation(have=_interrupt),
    "interrupt of silence": Conversation(have=_interrupt_silence, until="0.90.0"),
    "second turn fails": Conversation(have=partial(_second_fails, "fail/after-text")),
    "second turn fails at once": Conversation(have=partial(_second_fails, "fail/first")),
    "second turn is cut off": Conversation(have=partial(_second_fails, "length")),
    "second turn is interrupted": Conversation(have=_second_interrupted),
    "one tool": Conversation(have=_one_tool, since="0.98.0"),
    "tool without success": Conversation(have=_tool_loses, since="0.98.0"),
    "two tools": Conversation(have=_two_tools, since="0.165.0", crossing=True),
    "tool after tool": Conversation(have=_steps, since="0.98.0"),
    "tool with raw events": Conversation(have=_raw_tool, since="0.125.0"),
    "tool held": Conversation(have=_held_tool, since="0.98.0"),
    "tool interrupted": Conversation(have=partial(_interrupted_tool, "call/then-text"), since="0.98.0", crossing=True),
    "tool interrupted in mid-answer": Conversation(
        have=partial(_interrupted_tool, "call-hangs"), since="0.98.0", crossing=True
    ),
    "answer cut off after a call": Conversation(have=partial(_cut_off, "call-cut"), since="0.98.0", crossing=True),
    "answer out of tokens after a call": Conversation(
        have=partial(_cut_off, "call-length"), since="0.98.0", crossing=True
    ),
    "answer cut off after two calls": Conversation(have=_two_cut_off, since="0.165.0", crossing=True),
    "answer cut off after a call, interrupted": Conversation(
        have=partial(_cut_off_interrupted, "call-cut"), since="0.98.0", crossing=True
    ),
    "answer out of tokens after a call, interrupted": Conversation(
        have=partial(_cut_off_interrupted, "call-length"), since="0.98.0", crossing=True
    ),
    "answer cut off after a call, more input": Conversation(
        have=partial(_cut_off_steered, "call-cut"), since="0.98.0", crossing=True
    ),
    "call answered after more input": Conversation(
        have=partial(_cut_off_steered, "call/then-text"), since="0.98.0", crossing=True
    ),
    "thoughts with raw events": Conversation(have=partial(_raw, "thoughts")),
    "unknown tool with raw events": Conversation(have=partial(_raw, "unknown")),
    "unknown tool, then cut off": Conversation(have=partial(_raw, "unknown-cut")),
    "unknown tool": Conversation(have=partial(_undeclared_tool, "unknown")),
    "broken arguments": Conversation(have=partial(_undeclared_tool, "broken")),
    "wrong answer": Conversation(have=_wrong_answer, since="0.98.0"),
    "error as answer": Conversation(have=_error_as_answer, since="0.98.0"),
    "injected history": Conversation(have=_injected, since="0.125.0"),
    "resumed with a history": Conversation(have=_resumed),
    **{
        script: Conversation(have=partial(_full, script), since="0.99.0")
        for script in ("full", "full-for-long", "full-and-fails", "full-and-cut-off")
    },
    "full-of-calls": Conversation(have=_full_of_calls, since="0.99.0"),
    **{script: Conversation(have=partial(_sum, script), since="0.98.0") for script in ("sum", "sum-fails")},
    "summary interrupted": Conversation(have=_sum_interrupted, since="0.98.0"),
    "summary instead of a turn": Conversation(have=_sum_instead, since="0.98.0"),
    "output schema": Conversation(have=_schema),
    "overrides": Conversation(have=_overrides),
    "instructions": Conversation(have=_instructed),
    "wrong tool": Conversation(have=_wrong_tool, since="0.95.0"),
    "wrong requests": Conversation(have=_wrong_requests),
    "history": Conversation(have=_history, since="0.105.0"),
    "archived in mid-turn": Conversation(have=_archived_in_mid_turn),
    "forked": Conversation(have=_forked, since="0.105.0"),
    "named": Conversation(have=_named, since="0.93.0"),
    # What a change says may come before the answer to it.
    "settled": Conversation(have=_settled, since="0.134.0", crossing=True),
    "moved": Conversation(have=_moved),
    "unsubscribed": Conversation(have=_unsubscribed, since="0.106.0"),
    "steered": Conversation(have=_steered, since="0.99.0"),
    "unknown method": Conversation(have=_unknown_method),
    "asked at the start": Conversation(have=_asked_at_start),
    "planned": Conversation(have=partial(_raw, "planned")),
    "searched": Conversation(have=partial(_raw, "searched")),
    "served": Conversation(have=partial(_raw, "served"), served=True),
    "tool of a namespace": Conversation(have=_namespaced_tool, since="0.142.0"),
    **{f"exec: {name}": Conversation(runs=_for_both(runs)) for name, runs in _EXEC.items()},
    **{
        f"result: {name}": Conversation(have=partial(_answered_wrongly, result), since="0.98.0", hostile=True)
        for name, result in _WRONG_RESULTS.items()
    },
}
