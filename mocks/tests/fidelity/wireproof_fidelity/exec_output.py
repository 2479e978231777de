"""Makes what two runs of `codex exec` write comparable, on stdout and stderr.

Not equal can be ids, times, what one machine lacks, and what a model is not known by.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_MASKS = (
    (UUID, "ID"),
    (re.compile(r"\b\d+ms\b"), "Nms"),
    (re.compile(r"try again at [^.]+\."), "try again at TIME."),
    (re.compile(r"/bin/bash -lc"), "bash -lc"),  # whichever the recorded machine had
    (re.compile(r"Rate limit reached for the mock\. Please try again in 1s\.|Invalid prompt: flagged"), "mock failure"),
    (re.compile(r"(?<=completion: )Selected model is at capacity(?!\.)"), "mock failure"),
    (re.compile(r"  tip: .*"), "  tip: TIP"),  # which option is most like it
    (re.compile(r"http://127\.0\.0\.1:\d+/v1/responses"), "URL"),
)
_UNSAID = re.compile(
    r"WARNING: proceeding|\x1b\[1m\x1b\[33mwarning:|\x1b\[2m\d{4}-|warning: (Codex could not find|Model metadata)|"
    r"\d{4}-\d\d-\d\dT\S+ ERROR |provider: |"
    r"\x1b\[1mprovider:|"
    r"mcp: mini (starting|ready)|mcp startup: "  # the mock starts no servers
)
_UNKNOWN_MODEL = "Model metadata for "


def _masked(text: str) -> str:
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    return text


def lines_of_stderr(lines: Iterable[str]) -> list[str]:
    """The lines, without codex's log and its warnings about its machine and its model."""
    return [_masked(line) for line in lines if not _UNSAID.match(line)]


def events(lines: Iterable[Any]) -> list[Any]:
    """The events, without the item about a model that is not known: the numbers of the items after it are lowered."""
    kept = [line for line in lines if not (_UNKNOWN_MODEL in json.dumps(line) and not isinstance(line, str))]
    numbers: dict[str, str] = {}
    for line in kept:
        item = line.get("item") if isinstance(line, dict) else None
        if item is not None and item["type"] != "web_search":
            item["id"] = numbers.setdefault(item["id"], f"item_{len(numbers)}")
    return [json.loads(_masked(json.dumps(line))) for line in kept]
