"""The messages of the older family about commands that the backend runs and files that it changes."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_codex.protocol.json_object import Json

_MS = 1000


def _command(params: Json) -> Json:
    item = params["item"]
    return {
        "call_id": item["id"],
        "turn_id": params["turnId"],
        "command": shlex.split(item["command"]),
        "cwd": item["cwd"],
        "parsed_cmd": _parsed(item),
        "source": "agent",
    }


def _parsed(item: Json) -> list[Json]:
    return [{"type": action["type"], "cmd": action["command"]} for action in item["commandActions"]]


def duration(item: Json) -> Json:
    """How long an item took."""
    return {"secs": item["durationMs"] // _MS, "nanos": item["durationMs"] % _MS * 1_000_000}


def _command_end(params: Json) -> Json:
    item = params["item"]
    output = item["aggregatedOutput"]
    # -1 is a command that was refused: why stands where errors stand.
    errors = item["exitCode"] == -1 or params.get("stream") == "stderr"
    return {
        "type": "exec_command_end",
        **_command(params),
        "stdout": "" if errors else output,
        "stderr": output if errors else "",
        "aggregated_output": output,
        "exit_code": item["exitCode"],
        "duration": duration(item),
        "formatted_output": output,
    }


def command_approval(item: Json, place: Json, asked: Json) -> Json:
    """Sent before the client is asked whether a command may run; `asked`: the params of the typed request."""
    # Never null here, unlike in the typed request before 0.105.0.
    reason = {"reason": asked["reason"]} if asked.get("reason") else {}
    amendment = asked["proposedExecpolicyAmendment"]
    return {
        "type": "exec_approval_request",
        "call_id": item["id"],
        "turn_id": place["turnId"],
        "command": shlex.split(item["command"]),
        "cwd": item["cwd"],
        **reason,
        "proposed_execpolicy_amendment": amendment,
        "available_decisions": [
            "approved",
            {"approved_execpolicy_amendment": {"proposed_execpolicy_amendment": amendment}},
            "abort",
        ],
        "parsed_cmd": _parsed(item),
    }


def question(asked: Json) -> Json:
    """Sent before the user is asked something; `asked`: the params of the typed request."""
    place = {"call_id": asked["itemId"], "turn_id": asked["turnId"]}
    questions = [{name: it[name] for name in ("id", "header", "question", "options")} for it in asked["questions"]]
    return {"type": "request_user_input", **place, "questions": questions}


def v1_request(item: Json, thread_id: str, reason: str) -> tuple[str, Json]:
    """Method and params of a request for approval on a thread that a v1 method began."""
    place = {"conversationId": thread_id, "callId": item["id"]}
    if item["type"] == "fileChange":
        return "applyPatchApproval", {**place, "fileChanges": _changes(item), "reason": None, "grantRoot": None}
    asked = {"command": shlex.split(item["command"]), "cwd": item["cwd"], "reason": reason or None}
    return "execCommandApproval", {**place, "approvalId": None, **asked, "parsedCmd": _parsed(item)}


def _changes(item: Json) -> Json:
    return {it["path"]: {"type": it["kind"]["type"], "content": it["diff"]} for it in item["changes"]}


def _patch(params: Json) -> Json:
    call = {"call_id": params["item"]["id"], "turn_id": params["turnId"], "auto_approved": False}
    return {"type": "patch_apply_begin", **call, "changes": _changes(params["item"])}


def _patch_end(params: Json) -> Json:
    item, done = params["item"], params["item"]["status"] == "completed"
    names = "".join(f"A {it['path'].rpartition('/')[2]}\n" for it in item["changes"])
    return {
        "type": "patch_apply_end",
        "call_id": item["id"],
        "turn_id": params["turnId"],
        "stdout": f"Success. Updated the following files:\n{names}" if done else "",
        "stderr": "" if done else "patch rejected by user",
        "success": done,
        "changes": _changes(item),
    }


def patch_approval(item: Json, place: Json) -> Json:
    """Sent before the client is asked whether files may be changed."""
    call = {"call_id": item["id"], "turn_id": place["turnId"], "changes": _changes(item)}
    return {"type": "apply_patch_approval_request", **call}


ACTS: Mapping[str, Callable[[Json], Json]] = {
    "commandExecution": lambda params: {"type": "exec_command_begin", **_command(params)},
    "fileChange": _patch,
}
ACTED: Mapping[str, Callable[[Json], Json]] = {"commandExecution": _command_end, "fileChange": _patch_end}
