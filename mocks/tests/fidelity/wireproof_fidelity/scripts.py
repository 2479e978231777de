"""The scripts of the conversations that are had with real servers and with the mock (`conformance/codex`)."""

from __future__ import annotations

import json
from dataclasses import replace

from wireproof_mocks.upstream.failing import FAILURES, HttpRefusal
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import (
    Call,
    Command,
    Fail,
    Finish,
    Gate,
    Hang,
    Library,
    McpCall,
    Patch,
    Plan,
    Say,
    Script,
    Step,
    Think,
    Usage,
    WebSearch,
)

_PATIENCE = 20.0
"""Seconds within which a gate is opened."""


def _script(name: str, *parts: tuple[object, ...]) -> Script:
    return Script(name=name, title="", parts=parts)  # type: ignore[arg-type]  # steps


_SEARCH = Call(id="call_search", name="localSearch", arguments='{"query": "ü", "n": 1.50}')
_READ = Call(id="call_read", name="readNote", arguments="{}")
_OTHER = Call(id="call_other", name="otherTool", arguments="{}")
_BROKEN = Call(id="call_broken", name="localSearch", arguments='{"query": ')
_PLANS = tuple(Plan(id=f"call_plan_{done}", steps=("look", "write"), done=done, explanation="how") for done in range(3))
_ECHO = McpCall(id="call_echo", server="mini", tool="echo", arguments='{"text": "hi"}', output="echo: hi")
_FAIL = replace(_ECHO, id="call_fail", tool="fail", failed=True)
_RUN = Command(id="call_run", command="echo one; echo two", output="one\ntwo\n")
_BEGUN = (Say(("Begun", ", and")),)

SCRIPTS: Library = {
    **LIBRARY,
    **{
        script.name: script
        for script in (
            _script("two-messages", (Say(("First", ".")), Think("Hm."), Say(("Second", ".")))),
            _script(
                "phases", (Say(("Let me", " see."), phase="commentary"), Say(("All", " done."), phase="final_answer"))
            ),
            _script(
                "two-turns",
                (Say(("One.",)), Usage(input=100, cached=50, output=10, reasoning=3)),
                (Say(("Two.",)),),
            ),
            _script(
                "citation", (Say(("a <", "oai", " <", "<oai-mem", "-citation>x</oai", "-mem-citation> b", "", "<")),)
            ),
            _script("citation-alone", (Say(("<oai-mem-citation>never closed",)),)),
            _script("held-back", (Say(("a", "<")), Fail("cut"))),
            _script("two-deltas", (Say(("a", "b <")), Hang())),
            _script("no-deltas", (Say(("All at", " once."), whole=True),)),
            _script("no-counts", (Say(("Free",)), Usage(unknown=True))),
            _script("length", (*_BEGUN, Usage(input=9, output=4), Finish("length"))),
            _script("filter", (*_BEGUN, Usage(input=9, output=4), Finish("content_filter"))),
            _script(
                "thoughts",
                (Think("Hm, so", ("Hm, ", "so"), ("raw ", "thought"), "gAAA"), Say(("Second.",), whole=True)),
            ),
            _script(
                "full",
                (Fail("context-window"),),
                (Say(("Sum", "mary")), Usage(input=40, output=5)),
                (Say(("On.",)),),
            ),
            _script("full-for-long", *((Fail("context-window"),) for _ in range(5))),
            _script("full-and-fails", (Fail("context-window"),), (Fail("http-500"),)),
            _script("full-and-cut-off", (Fail("context-window"),), (*_BEGUN, Finish("length"))),
            _script("full-of-calls", (_SEARCH, Usage(input=244_700, output=100)), (Say(("Sum",)),), (Say(("On.",)),)),
            _script("sum", (Say(("First",)),), (Say(("Sum",)),)),
            _script("sum-fails", (Say(("First",)),), (*_BEGUN, Fail("cut"))),
            _script("hangs-then-sum", (*_BEGUN, Hang()), (Say(("Sum",)),)),
            _script("sum-hangs", (Say(("First",)),), (Say(("Sum",)), Hang())),
            _script("failed-thought", (Think("Hm."), Fail("cut"))),
            _script("calls", (Say(("Let me", " see.")), _SEARCH, Gate(timeout=_PATIENCE), _READ), (Say(("Both.",)),)),
            _script("unknown", (_OTHER,), (Say(("None.",)),)),
            _script("broken", (_BROKEN,), (Say(("None.",)),)),
            _script("namespaced", (Call(id="call_find", name="find", arguments="{}"),), (Say(("Found.",)),)),
            _script("planned", *((plan,) for plan in _PLANS), (Say(("Planned.",)),)),
            _script("searched", (WebSearch(id="ws_1", query="herons"), Say(("Found.",)))),
            _script("served", (_ECHO,), (_FAIL,), (Say(("Served.",)),)),
            _script("run", (Say(("Let me look.",), whole=True), _RUN), (Say(("Done.",)),)),
            _script(
                "run-fails", (replace(_RUN, command="echo no >&2; exit 3", output="no\n", status=3),), (Say(("No.",)),)
            ),
            _script("add", (Patch(id="call_add", path="note.txt", content="one\ntwo\n"),), (Say(("Added.",)),)),
            _script("begun", (Say(("Begun.",), whole=True), Hang())),
            _script("call-hangs", (_SEARCH, Hang())),
            _script("call-cut", (_SEARCH, Fail("cut"))),
            _script("call-length", (_SEARCH, Usage(input=9, output=4), Finish("length"))),
            _script("calls-cut", (_SEARCH, Gate(timeout=_PATIENCE), _READ, Fail("server-error"))),
            _script("unknown-cut", (_OTHER, Fail("cut"))),
            *(_script(f"cause/{cause}", (Fail(cause),)) for cause in FAILURES),
            *(
                _script(f"cause-late/{cause}", (*_BEGUN, Fail(cause)))
                for cause, way in FAILURES.items()
                if not isinstance(way, HttpRefusal)
            ),
        )
    },
}


SHELLS = {"exec_command": "cmd", "shell_command": "command"}
"""Codex's tools that run a command line: the parameter that it is."""


def of_the_model(script: Script, shell: str = "exec_command") -> Script:
    """The script as the model's service plays it: it calls tools that Codex has of its own, `shell` for commands."""
    return replace(script, parts=tuple(tuple(_called(step, shell) for step in part) for part in script.parts))


def _called(step: Step, shell: str) -> Step:
    match step:
        case Plan():
            states = ["completed"] * step.done + ["in_progress"] + ["pending"] * len(step.steps)
            plan = [{"step": text, "status": status} for text, status in zip(step.steps, states, strict=False)]
            arguments = json.dumps({"explanation": step.explanation, "plan": plan})
            return Call(id=step.id, name="update_plan", arguments=arguments)
        case Command():
            return Call(id=step.id, name=shell, arguments=json.dumps({SHELLS[shell]: step.command}))
        case Patch():
            lines = "".join(f"+{line}\n" for line in step.content.splitlines())
            patch = f"*** Begin Patch\n*** Add File: {step.path}\n{lines}*** End Patch"
            return _called(Command(id=step.id, command=f"apply_patch <<'EOF'\n{patch}\nEOF"), shell)
        case McpCall():
            return Call(id=step.id, name=f"mcp__{step.server}__{step.tool}", arguments=step.arguments)
    return step
