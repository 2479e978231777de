"""The methods that begin, steer and interrupt turns, and what the v1 methods share with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from wireproof_codex.legacy import codex_events
from wireproof_codex.methods.lookup import find_thread
from wireproof_codex.notifications import messages
from wireproof_codex.protocol.params import INTERNAL, INVALID_PARAMS, OVERLOAD, OVERLOADED, Refused
from wireproof_codex.threads.turn_history import turn_object
from wireproof_codex.turns.compaction import choose_summary
from wireproof_codex.turns.script_position import choose
from wireproof_codex.turns.turn import PlayedTurn
from wireproof_codex.versions.failures import FailureCause
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.selection import Selection, rejected
from wireproof_scripts.steps import Overload

if TYPE_CHECKING:
    from wireproof_codex.context import AdmittedRequest
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.threads.thread import Running, Thread

Answer = Callable[[str], None]


def _turn_start(request: AdmittedRequest) -> None:
    thread, given = find_thread(request), request.params["input"]
    check_input(request, given)
    if given and _tool_output(request) is not None:
        raise Refused("`toolOutput` cannot be combined with nonempty `input`")
    start_turn(request, thread, given, lambda turn: request.reply({"turn": turn_object(turn, "inProgress")}))


def _tool_output(request: AdmittedRequest) -> Json | None:
    """The output of a tool with which a turn begins, where the version knows that."""
    output: Json | None = request.params.get("toolOutput")
    return output if "toolOutput" in request.server.version.requests.params.fields("turn/start") else None


def start_turn(request: AdmittedRequest, thread: Thread, given: list[Json], answer: Answer) -> None:
    """Begin a turn, or take the input into the one that runs; `answer` is given the id to answer with."""
    server, client_id = request.server, request.params.get("clientUserMessageId")
    if thread.turn is not None and not thread.turn.steerable:
        raise Refused("failed to submit turn input: ActiveTurnNotSteerable { turn_kind: Compact }", INTERNAL)
    if thread.turn is not None:
        _join(request, thread, thread.turn, given, answer)
        thread.turn.steer(given, client_id, cast_for(request, thread, given))
        return
    if not given and server.version.turns.without_input != "asks":
        _NO_INPUT[server.version.turns.without_input](request, thread, answer)
        return
    limit = server.version.compaction.limit
    summary = choose_summary(server, thread) if limit is not None and thread.context >= limit else None
    casting = cast_for(request, thread, given)
    # Before anything is changed: a client that tries again finds the thread as it was.
    _check_load(casting)
    _override(request, thread)
    thread.failed = False  # systemError lasts until the next turn begins
    turn = PlayedTurn(server, thread, casting, given, summary, schema=request.params.get("outputSchema"))
    if not thread.ephemeral:
        answer(turn.id)
    turn.announce()
    if thread.ephemeral:  # recordings show turn/started before the response on ephemeral threads
        answer(turn.id)
    turn.begin(client_id)
    output = _tool_output(request)
    if output is not None:
        turn.take_output(output["name"], output["output"])
    server.turns.add(turn)


def _override(request: AdmittedRequest, thread: Thread) -> None:
    """Take the settings that the request names, which all later turns keep."""
    server = request.server
    if server.version.turns.numbered_ids and not thread.conversation and thread.settings.names(request.params):
        # These versions number turns by operations, and overrides are one of their own.
        server.turn_id(thread)
    if thread.override(request.params):
        server.notify(thread, "thread/settings/updated", messages.settings_updated(thread, server.version))


def _join(request: AdmittedRequest, thread: Thread, running: Running, given: list[Json], answer: Answer) -> None:
    """Answer a turn/start that becomes input of the running turn; up to 0.146 as a new turn, which never ends.

    Raises:
        Refused: there is no input, which from 0.149 on is an error.
    """
    version = request.server.version
    joins = version.turns.when_busy in {"joins", "steers"}
    if joins and not given:
        raise Refused("failed to submit turn input: EmptyInput", INTERNAL)
    if joins:
        answer(running.id)
        _override(request, thread)
        return
    _override(request, thread)
    if not given and version.turns.without_input in {"refused", "asks"}:  # 0.118.0 to 0.146.0
        _refuse(request, thread, answer)
        return
    # v1 conversations have no turn/started at all.
    _begin_without_model(request, thread, answer, silent=thread.conversation)


def _begin_without_model(request: AdmittedRequest, thread: Thread, answer: Answer, *, silent: bool = False) -> str:
    """Begin a turn that never ends, without the model; its id. `silent`: nothing but the answer is sent."""
    server = request.server
    identity = server.turn_id(thread)
    answer(identity)
    if server.version.turns.when_busy == "queues" and not silent:
        started = {"threadId": thread.id, "turn": turn_object(identity, "inProgress")}
        server.notify(thread, "turn/started", started)
    return identity


def _complete_without_model(request: AdmittedRequest, thread: Thread, answer: Answer) -> None:
    """Begin and complete a turn without the model."""
    server = request.server
    identity = _begin_without_model(request, thread, answer)
    server.notify(thread, *codex_events.notification(identity, thread.id, codex_events.task_complete(identity, None)))
    completed = {"threadId": thread.id, "turn": turn_object(identity, "completed")}
    server.notify(thread, "turn/completed", completed)


def _refuse(request: AdmittedRequest, thread: Thread, answer: Answer) -> None:
    """A turn that fails because it needs input, without turn/completed."""
    server = request.server
    place = {"threadId": thread.id, "turnId": _begin_without_model(request, thread, answer)}
    if not thread.failed:
        thread.failed = True
        server.notify(thread, "thread/status/changed", {"threadId": thread.id, "status": {"type": "systemError"}})
    cause = FailureCause(message="input must not be empty", info="badRequest")
    server.notify(thread, "error", {"error": messages.turn_error(cause), "willRetry": False, **place})


# Before 0.133.0; newer versions ask the model, which goes on after injected tool results.
_NO_INPUT: Mapping[str, Callable[[AdmittedRequest, Thread, Answer], object]] = {
    "completes": _complete_without_model,
    "hangs": _begin_without_model,
    "refused": _refuse,
}


def cast_for(request: AdmittedRequest, thread: Thread, given: list[Json]) -> Selection:
    """What the model is to answer to this input; if that cannot be found, stderr says why."""
    server, library, schema = request.server, request.server.library, request.params.get("outputSchema")
    if isinstance(library, ScriptError):
        casting = rejected(str(library))
    else:
        casting = choose(library, server, thread, given, schema if isinstance(schema, dict) else None)
    if casting.problem is not None:
        server.log(casting.problem)
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


def check_input(request: AdmittedRequest, given: list[Json]) -> None:
    """Check what the parameters alone do not show.

    Raises:
        Refused: the input is too long, or has an image that this version would have to fetch.
    """
    version = request.server.version
    length = sum(len(item["text"]) for item in given if item["type"] == "text")
    # 0.106.0 and newer refuse it; 0.89.0 took 2.2 MB.
    if version.requests.max_input_chars is not None and length > version.requests.max_input_chars:
        data = {
            "input_error_code": "input_too_large",
            "max_chars": version.requests.max_input_chars,
            "actual_chars": length,
        }
        raise Refused(
            f"Input exceeds the maximum length of {version.requests.max_input_chars} characters.", INVALID_PARAMS, data
        )
    # An image by `fileId` has no URL to be fetched.
    urls = [item.get("url") or "data:" for item in given if item["type"] == "image"]
    # From 0.150.0 on; before, a URL was passed on for the model's service to fetch.
    if not version.requests.remote_images and not all(url.startswith("data:") for url in urls):
        raise Refused("remote image URLs are not supported; use an inline data URL instead")


def _thread_compact_start(request: AdmittedRequest) -> None:
    """Summarise the conversation, in a turn of its own that replaces the one that runs."""
    thread, server = find_thread(request), request.server
    request.reply({})
    if thread.turn is not None:
        thread.turn.interrupt("replaced")
        server.drop(thread)
    thread.failed = False
    turn = PlayedTurn(server, thread, choose_summary(server, thread), [], only_summary=True)
    turn.announce()
    turn.begin(None)
    server.turns.add(turn)


def _turn_steer(request: AdmittedRequest) -> None:
    thread, given, expected = find_thread(request), request.params["input"], request.params["expectedTurnId"]
    if not expected:
        raise Refused("expectedTurnId must not be empty")
    check_input(request, given)
    if request.server.version.requests.steers_with_input_alone:
        _check_any(given)
    turn = _active(thread, expected, "no active turn to steer", mark="`")
    _check_any(given)
    if not turn.steerable:
        cause = FailureCause(
            message="cannot steer a compact turn", info={"activeTurnNotSteerable": {"turnKind": "compact"}}
        )
        raise Refused(cause.message, data=messages.turn_error(cause))
    request.reply({"turnId": turn.id})
    turn.steer(given, request.params.get("clientUserMessageId"), cast_for(request, thread, given))


def _check_any(given: list[Json]) -> None:
    if not given:
        raise Refused("input must not be empty")


def _turn_interrupt(request: AdmittedRequest) -> None:
    thread = find_thread(request)
    # From 0.125.0 on this stops what is starting, and is answered also where nothing runs.
    if request.server.version.requests.interrupts_startup and not request.params["turnId"]:
        if thread.turn is None:
            request.reply({})
        else:
            interrupt(request, thread, {})
        return
    # Before 0.134.0 a wrong id interrupts whatever runs, and on an idle thread there is no answer.
    if request.server.version.requests.checks_turn_id:
        _active(thread, request.params["turnId"], "no active turn to interrupt")
    interrupt(request, thread, {})


def interrupt(request: AdmittedRequest, thread: Thread, answer: Json) -> None:
    """End the thread's turn; if none runs, the request is answered when a later turn is interrupted."""
    server = request.server
    # Before the turn ends, which answers them: in 0.89.0 and 0.169.0 the answer precedes turn/completed.
    thread.interrupts.append(lambda: request.reply(answer))
    if server.version.turns.numbered_ids:  # an interrupt is an operation as well
        server.turn_id(thread)
    if thread.turn is not None:
        thread.turn.interrupt()
        server.drop(thread)


def _active(thread: Thread, expected: str, none: str, mark: str = "") -> Running:
    """The turn that runs, which must have the id `expected`; `mark` stands around ids in the refusal."""
    if thread.turn is None:
        raise Refused(none)
    if thread.turn.id != expected:
        raise Refused(f"expected active turn id {mark}{expected}{mark} but found {mark}{thread.turn.id}{mark}")
    return thread.turn


METHODS: Mapping[str, Callable[[AdmittedRequest], None]] = {
    "turn/start": _turn_start,
    "turn/steer": _turn_steer,
    "thread/compact/start": _thread_compact_start,
    "turn/interrupt": _turn_interrupt,
}
