"""Messages about the backend's own tools: items, requests for approval, diffs, with the fields of the recordings."""

from __future__ import annotations

import hashlib
import re
import shlex
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.versions.version import Version
    from wireproof_scripts.steps import Command, Patch, Question

_SPLITS = re.compile(r"\s*(?:&&|;)\s*")


def command_item(step: Command, cwd: str, version: Version, known: Mapping[str, Any]) -> Json:
    """The item of a command, without its times; `known`: what is known of how it runs and ended."""
    return {
        "type": "commandExecution",
        "id": step.id,
        "pluginId": None,
        "scriptPath": None,
        "command": f"{version.commands.shell} -lc {_quoted(step.command)}",
        "cwd": cwd,
        "processId": None,
        "source": "agent",
        "status": "inProgress",
        "commandActions": [{"type": "unknown", "command": part} for part in _parts(step.command, version)],
        "aggregatedOutput": None,
        "exitCode": None,
        "durationMs": None,
        **known,
    }


def _quoted(command: str) -> str:
    # Not shlex.quote, which leaves a plain word bare.
    return "'" + command.replace("'", "'\"'\"'") + "'"


def _parts(command: str, version: Version) -> list[str]:
    """What a command does; before 0.110 part by part, without an echo before other parts."""
    parts = _SPLITS.split(command) if version.commands.splits else [command]
    while len(parts) > 1 and parts[0].startswith("echo "):
        del parts[0]
    return parts


def command_request(step: Command, item: Json, place: Json, started_ms: int, version: Version) -> Json:
    """Params of item/commandExecution/requestApproval."""
    amendment = shlex.split(_SPLITS.split(step.command)[0])
    # `reason: null` before 0.105.0, no field at all since.
    reason = {"reason": step.reason or None} if step.reason or version.commands.null_reasons else {}
    return {
        "kind": "command",
        **place,
        "itemId": step.id,
        "startedAtMs": started_ms,
        "environmentId": "local",
        **reason,
        "command": item["command"],
        "cwd": item["cwd"],
        "commandActions": item["commandActions"],
        "proposedExecpolicyAmendment": amendment,
        # "decline" is accepted as well, though 0.169.0 does not list it.
        "availableDecisions": [
            "accept",
            {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": amendment}},
            "cancel",
        ],
    }


def patch_item(step: Patch, cwd: str, status: str = "inProgress") -> Json:
    """The item of a file that is added, without its times."""
    change = {"path": str(PurePosixPath(cwd) / step.path), "kind": {"type": "add"}, "diff": step.content}
    return {"type": "fileChange", "id": step.id, "changes": [change], "status": status}


def patch_request(step: Patch, place: Json, started_ms: int) -> Json:
    """Params of item/fileChange/requestApproval."""
    return {**place, "itemId": step.id, "startedAtMs": started_ms, "reason": None, "grantRoot": None}


def question(step: Question, place: Json) -> Json:
    """Params of item/tool/requestUserInput."""
    asked = {
        "id": "q1",
        "header": step.header,
        "question": step.question,
        "isOther": True,
        "isSecret": False,
        "options": [{"label": label, "description": ""} for label in step.options] or None,
    }
    return {**place, "itemId": step.id, "questions": [asked], "isBlocking": True, "autoResolutionMs": None}


def diff(step: Patch, cwd: str, version: Version) -> str:
    """What the turn has changed, as git shows it."""
    # Absolute in the diff before 0.130.0; the item of the change has an absolute path in every version.
    path = str(PurePosixPath(cwd) / step.path) if version.commands.whole_paths else step.path
    content = step.content.encode()
    # The hash that git gives to a file of this content; the zeros in the diff are that of no file.
    blob = hashlib.sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()
    lines = step.content.removesuffix("\n").split("\n") if step.content else []
    added = "".join(f"+{line}\n" for line in lines)
    # A hunk of one line leaves its length out, as in git.
    size = "+1" if len(lines) == 1 else f"+1,{len(lines)}"
    return (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex {'0' * 40}..{blob}\n"
        f"--- /dev/null\n+++ b/{path}\n@@ -0,0 {size} @@\n{added}"
    )
