"""Scripts of Cursor's agent service alone: its own tools, its traps. Their clients declare `read` and the like."""

from __future__ import annotations

from wireproof_scripts.library.written import part, parts
from wireproof_scripts.steps import Call, Pause, Reflect, Say, Script
from wireproof_scripts.steps.cursor import Glob, Grep, Heartbeat, Ls, Read, Shell, Trap, Write

OUTSIDE = (
    "/etc/passwd",
    "../../../../../../../../etc/passwd",
    "/proc/self/root/etc/passwd",
    "./../../../../../../etc/../etc/passwd",
    "link-to-passwd",
)
"""Paths that lead out of any scratch folder. The file is there on every system that this suite runs on; the link is in
the folder of the proxy that comes with Wireproof."""

AGENT: tuple[Script, ...] = (
    # agent.names: each tool of the service's own once, and one of the client's.
    part(
        "agent/names",
        "The service asks for each of its own tools, and for one of the client's.",
        Shell(id="call_shell", command="ls -l"),
        Read(id="call_read", path="README.md"),
        Write(id="call_write", path="NOTES.md", text="One line.\n"),
        Ls(id="call_ls", path="src"),
        Grep(id="call_grep", pattern="TODO"),
        Glob(id="call_glob", pattern="**/*.md"),
        Call(id="call_mcp", name="get_weather", arguments='{"city": "Paris"}'),
    ),
    # agent.arguments: each argument that the client's tools have a name for.
    part(
        "agent/arguments",
        "The service asks for files and searches with all that it can say of them.",
        Read(id="call_read", path="docs/a b.md"),
        Write(id="call_write", path="docs/new.md", text="Zwei Zeilen \u2014\nund \u65e5\u672c\n"),
        Grep(id="call_grep", pattern="^# .*", path="docs"),
        Glob(id="call_glob", pattern="*.md", path="docs"),
        Call(id="call_mcp", name="get_weather", arguments='{"city": "T\u014dky\u014d", "days": 2}'),
    ),
    # agent.all-emitted: who closes with the first request loses the others.
    part(
        "agent/all",
        "Text, then three requests of the service, one after the other.",
        Say(("I look", " at both.")),
        Read(id="call_one", path="one.md"),
        Pause(0.03),
        Read(id="call_two", path="two.md"),
        Pause(0.03),
        Shell(id="call_three", command="wc -l one.md two.md"),
    ),
    # agent.fresh-session: only a run that has the result in its history gets the text of the second part.
    parts(
        "agent/fresh",
        "A request; whoever goes on from its result in the same session gets signs of life alone.",
        (Read(id="call_read", path="README.md"),),
        (Trap("Never streamed.", every=0.2), Say(("A fresh", " session."))),
    ),
    # agent.same-session-trap.
    part(
        "agent/trap",
        "The text is in a blob alone; signs of life follow without end.",
        Heartbeat(2),
        Trap("Never streamed.", every=0.2, always=True),
    ),
    # agent.without-tools: the service's tools run at the proxy, or are refused there.
    parts(
        "agent/without-tools",
        "Requests of the service to a client that declares no tools, then text.",
        (
            Read(id="call_read", path="notes.md"),
            Grep(id="call_grep", pattern="TODO"),
            Shell(id="call_shell", command="true"),
        ),
        (Say(("No call", " is needed.")),),
    ),
    # agent.scratch-only.
    parts(
        "agent/scratch",
        "Requests for what is outside of any scratch folder; then JSON of the results.",
        tuple(Read(id=f"call_{number}", path=path) for number, path in enumerate(OUTSIDE)),
        (Reflect("received"),),
    ),
)
