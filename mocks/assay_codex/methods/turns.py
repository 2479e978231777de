"""The methods that begin, steer and interrupt turns, and what the v1 methods share with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from assay_codex.methods.asking import find_thread
from assay_codex.notifications import legacy, messages, turn_messages
from assay_codex.protocol.params import INTERNAL, INVALID_PARAMS, OVERLOAD, OVERLOADED, Refused
from assay_codex.turns.compacting import sum_up
from assay_codex.turns.turn import Turn
from assay_codex.versions.failures import Cause
from assay_scripts.files.errors import ScriptError
from assay_scripts.selection import Selection, rejected, select
from assay_scripts.steps import Overload

if TYPE_CHECKING:
    from assay_codex.context import Host
    from assay_codex.methods.asked import Asked
    from assay_codex.threads.thread import Running, Thread

Json = dict[str, Any]
Answer = Callable[[str], None]


def _turn_start(asked: Asked) -> None:
    thread, given = find_thread(asked), asked.params["input"]
    check_input(asked, given)
    if given and _tool_output(asked) is not None:
        raise Refused("`toolOutput` cannot be combined with nonempty `input`")
    start_turn(asked, thread, given, lambda turn: asked.reply({"turn": turn_messages.turn(turn, "inProgress")}))


def _tool_output(asked: Asked) -> Json | None:
    """The output of a tool with which a turn begins, where the version knows that."""
    output: Json | None = asked.params.get("toolOutput")
    return output if "toolOutput" in asked.server.version.params["turn/start"] else None


def start_turn(asked: Asked, thread: Thread, given: list[Json], answer: Answer) -> None:
    """Begin a turn, or take the input into the one that runs; `answer` is given the id to answer with."""
    server, now, client_id = asked.server, asked.now, asked.params.get("clientUserMessageId")
    if thread.turn is not None and not thread.turn.steerable:
        raise Refused("failed to submit turn input: ActiveTurnNotSteerable { turn_kind: Compact }", INTERNAL)
    if thread.turn is not None:
        _join(asked, thread, thread.turn, answer)
        thread.turn.steer(given, client_id, cast_for(asked, thread, given), now)
        return
    if not given and server.version.no_input != "asks":
        _NO_INPUT[server.version.no_input](asked, thread, answer)
        return
    limit = server.version.compacts_at
    summary = sum_up(server, thread) if limit is not None and thread.context >= limit else None
    casting = cast_for(asked, thread, given)
    _check_load(casting)
    if server.version.counted_turns and not thread.conversation and thread.settings.names(asked.params):
        server.turn_id(thread, now)
    if thread.override(asked.params):
        server.tell(thread, "thread/settings/updated", messages.settings_updated(thread, server.version), now)
    thread.failed = False
    turn = Turn(server, thread, casting, given, now, summary)
    if not thread.ephemeral:
        answer(turn.id)
    turn.announce(now)
    if thread.ephemeral:  # where the real server was seen to tell the turn before it answers
        answer(turn.id)
    turn.begin(client_id, now)
    output = _tool_output(asked)
    if output is not None:
        turn.take_output(output["name"], output["output"], now)
    server.play(turn)


def _join(asked: Asked, thread: Thread, running: Running, answer: Answer) -> None:
    """Answer a turn/start that becomes input of the running turn; older versions tell a new one that never ends."""
    server = asked.server
    if server.version.busy in {"joins", "steers"}:
        answer(running.id)
        return
    identity = server.turn_id(thread, asked.now)
    answer(identity)
    if server.version.busy == "queues" and not thread.conversation:
        started = {"threadId": thread.id, "turn": turn_messages.turn(identity, "inProgress")}
        server.tell(thread, "turn/started", started, asked.now)


def _hang(asked: Asked, thread: Thread, answer: Answer) -> str:
    """A turn that the model is not asked for, and that never ends; its id."""
    server, now = asked.server, asked.now
    identity = server.turn_id(thread, now)
    answer(identity)
    if server.version.busy == "queues":
        started = {"threadId": thread.id, "turn": turn_messages.turn(identity, "inProgress")}
        server.tell(thread, "turn/started", started, now)
    return identity


def _pass_over(asked: Asked, thread: Thread, answer: Answer) -> None:
    """A turn that the model is not asked for."""
    server, now = asked.server, asked.now
    identity = _hang(asked, thread, answer)
    server.tell(thread, *legacy.notification(identity, thread.id, legacy.task_complete(identity, None)), now)
    completed = {"threadId": thread.id, "turn": turn_messages.turn(identity, "completed")}
    server.tell(thread, "turn/completed", completed, now)


def _refuse(asked: Asked, thread: Thread, answer: Answer) -> None:
    """A turn of which nothing is told but that it needs input."""
    server, now = asked.server, asked.now
    place = {"threadId": thread.id, "turnId": _hang(asked, thread, answer)}
    thread.failed = True
    server.tell(thread, "thread/status/changed", {"threadId": thread.id, "status": messages.status(thread)}, now)
    cause = Cause(message="input must not be empty", info="badRequest")
    server.tell(thread, "error", {"error": turn_messages.turn_error(cause), "willRetry": False, **place}, now)


_NO_INPUT: Mapping[str, Callable[[Asked, Thread, Answer], object]] = {
    "completes": _pass_over,
    "hangs": _hang,
    "refused": _refuse,
}


def cast_for(asked: Asked, thread: Thread, given: list[Json]) -> Selection:
    """What the model is to say to this input; why it cannot be found stands on stderr."""
    casting = _casting(asked.server, thread, given)
    if casting.problem is not None:
        asked.server.note(casting.problem)
    return casting


def _check_load(casting: Selection) -> None:
    """Check that the server is not overloaded, as the script says.

    Raises:
        Refused: it is.
    """
    part = casting.parts[casting.first] if casting.first < len(casting.parts) else ()
    refused = casting.nonce.refused
    match part:
        case (Overload(times), *_) if refused[casting.script] < times:
            refused[casting.script] += 1
            raise Refused(OVERLOAD, OVERLOADED)


def _casting(server: Host, thread: Thread, given: list[Json]) -> Selection:
    library, call_id = server.library, f"call_{server.ids.number():04}"
    if isinstance(library, ScriptError):
        return rejected(str(library))
    return select(library, server.nonces, history=thread.history, given=given, tools=thread.tools, call_id=call_id)


def check_input(asked: Asked, given: list[Json]) -> None:
    """Check what the parameters alone do not show.

    Raises:
        Refused: the input is too long, or has an image that this version would have to fetch.
    """
    version = asked.server.version
    length = sum(len(item["text"]) for item in given if item["type"] == "text")
    if version.max_input_chars is not None and length > version.max_input_chars:
        data = {"input_error_code": "input_too_large", "max_chars": version.max_input_chars, "actual_chars": length}
        raise Refused(
            f"Input exceeds the maximum length of {version.max_input_chars} characters.", INVALID_PARAMS, data
        )
    urls = [item.get("url") or "data:" for item in given if item["type"] == "image"]
    if not version.remote_images and not all(url.startswith("data:") for url in urls):
        raise Refused("remote image URLs are not supported; use an inline data URL instead")


def _thread_compact_start(asked: Asked) -> None:
    """Have the conversation summed up, in a turn of its own that takes the place of the one that runs."""
    thread, server, now = find_thread(asked), asked.server, asked.now
    asked.reply({})
    if thread.turn is not None:
        thread.turn.give_way(now)
        server.drop(thread)
    thread.failed = False
    turn = Turn(server, thread, sum_up(server, thread), [], now, asked=True)
    turn.announce(now)
    turn.begin(None, now)
    server.play(turn)


def _turn_steer(asked: Asked) -> None:
    thread = find_thread(asked)
    check_input(asked, asked.params["input"])
    turn = _active(thread, asked.params["expectedTurnId"], "no active turn to steer")
    if not turn.steerable:
        cause = Cause(message="cannot steer a compact turn", info={"activeTurnNotSteerable": {"turnKind": "compact"}})
        raise Refused(cause.message, data=turn_messages.turn_error(cause))
    given = asked.params["input"]
    asked.reply({"turnId": turn.id})
    turn.steer(given, asked.params.get("clientUserMessageId"), cast_for(asked, thread, given), asked.now)


def _turn_interrupt(asked: Asked) -> None:
    thread = find_thread(asked)
    if asked.server.version.checks_turn_id:
        _active(thread, asked.params["turnId"], "no active turn to interrupt")
    interrupt(asked, thread, {})


def interrupt(asked: Asked, thread: Thread, answer: Json) -> None:
    """End the thread's turn; where none runs the request waits for the next one that is interrupted."""
    server = asked.server
    thread.interrupts.append(lambda: asked.reply(answer))
    if server.version.counted_turns:
        server.turn_id(thread, asked.now)
    if thread.turn is not None:
        thread.turn.interrupt(asked.now)
        server.drop(thread)


def _active(thread: Thread, expected: str, none: str) -> Running:
    if thread.turn is None:
        raise Refused(none)
    if thread.turn.id != expected:
        raise Refused(f"expected active turn id {expected} but found {thread.turn.id}")
    return thread.turn


METHODS: Mapping[str, Callable[[Asked], None]] = {
    "turn/start": _turn_start,
    "turn/steer": _turn_steer,
    "thread/compact/start": _thread_compact_start,
    "turn/interrupt": _turn_interrupt,
}
