"""What OpenAI's API refuses of the files in a request, with its codes and params. Pure.

Users saw of the API in 2026: chat reads a PDF alone (trpc-agent-go, issue 1816); a Responses `file_data` that is no
`data:` URL is refused (strands-agents/harness-sdk, pull request 3576), and so is an id of more than 64 characters
(litellm, issue 24797). What it says of an id that is not there was not seen.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from wireproof_endpoint.api.problems import TEXT_LONG, TYPE
from wireproof_surfaces.errors import INVALID_PARAM, MISSING_PARAM
from wireproof_surfaces.surfaces.rules import fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wireproof_surfaces.surfaces.rules import Body

LONGEST_ID = 64
_DATA = re.compile(r"data:([^;,]+);base64,[A-Za-z0-9+/]+={0,2}")


def chat(body: Body) -> None:
    """The rule of the parts of type `file` in the users' messages."""
    for index, message in enumerate(body["messages"]):
        # Most are text, and there may be hundreds.
        content = message.get("content")
        for place, part in _parts(content, f"messages[{index}].content", "file") if isinstance(content, list) else ():
            file = part["file"]
            _one_of(file, ("file_data", "file_id"), f"{place}.file")
            if (kind := _kind(file.get("file_data"))) not in (None, "application/pdf"):
                right = "a base64-encoded data URL of the type application/pdf, as data:application/pdf;base64,…"
                raise fault(f"{place}.file.file_data", f"{right}; this is {kind or 'no such URL'}")


def responses(body: Body) -> None:
    """The rule of the parts of type `input_file`, in messages and in outputs of tools."""
    for index, item in enumerate(body["input"] if isinstance(body["input"], list) else []):
        for name in ("content", "output"):
            for place, part in _parts(item.get(name), f"input[{index}].{name}", "input_file"):
                _one_of(part, ("file_data", "file_url", "file_id"), place)
                if _kind(part.get("file_data")) == "":
                    raise fault(f"{place}.file_data", "a base64-encoded data URL")
                address = part.get("file_url")
                if address is not None and not re.match(r"https?://.", address):
                    raise fault(f"{place}.file_url", "the address of a file, with http or https")


def _parts(content: object, place: str, kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, part in enumerate(content if isinstance(content, list) else []):
        # The content of what is no message, as of reasoning, may be anything.
        if isinstance(part, dict) and part.get("type") == kind:
            yield f"{place}[{number}]", part


def _one_of(file: Mapping[str, Any], names: tuple[str, ...], place: str) -> None:
    for name in (*names, "filename"):
        if not isinstance(file.get(name), str | None):
            raise fault(f"{place}.{name}", "a string", TYPE)
    if not any(file.get(name) for name in names):
        raise fault(f"{place}.{names[0]}", f"there, or else {' or '.join(names[1:])}", MISSING_PARAM)
    if id_ := file.get("file_id"):
        if len(id_) > LONGEST_ID:
            raise fault(f"{place}.file_id", f"a string of at most {LONGEST_ID} characters", TEXT_LONG)
        right = "the id of a file that is stored; none can be uploaded here: send file_data"
        raise fault(f"{place}.file_id", right, INVALID_PARAM)


def _kind(data: str | None) -> str | None:
    """The media type of a data URL, empty where it is none; None where there is no data."""
    found = _DATA.fullmatch(data) if data else None
    return found[1] if found else "" if data else None
