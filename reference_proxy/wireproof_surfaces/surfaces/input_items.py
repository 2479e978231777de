"""The input of a stored response as it is listed, page by page. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_surfaces.errors import INVALID_PARAM, ApiError
from wireproof_surfaces.surfaces.compaction import TYPES as COMPACTED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wireproof_surfaces.surfaces.json_text import Json
    from wireproof_surfaces.surfaces.responses_input import Given


# OpenAI's own limits of a page.
MOST = 100
USUAL = 20

PREFIXES: Mapping[str, str] = {
    "message": "msg",
    "function_call": "fc",
    "function_call_output": "fco",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctco",
    "reasoning": "rs",
    "compaction": "cmp",
    "compaction_summary": "cmp",
}


def listed(given: Given, response_id: str) -> Iterator[Json]:
    """Acceptable input as items: each with a type and an id, most with a status, a message's content in parts."""
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    token = response_id.partition("_")[2]
    for index, item in enumerate(items):
        kind = item.get("type") or "message"
        # The `i` keeps these ids apart from those of output items, which hold the same token.
        entry: Json = {"type": kind, "id": f"{PREFIXES[kind]}_{token}i{index:04x}"}
        if kind not in COMPACTED:
            entry["status"] = "completed"
        # What the client sent wins, its own id too; null says nothing.
        entry |= {name: value for name, value in item.items() if value is not None}
        if kind == "message" and isinstance(item["content"], str):
            part = "output_text" if item["role"] == "assistant" else "input_text"
            more: Json = {"annotations": []} if part == "output_text" else {}
            entry["content"] = [{"type": part, "text": item["content"], **more}]
        yield entry


def page(items: Sequence[Mapping[str, Any]], query: Mapping[str, str]) -> Json:
    """The page that `order`, `limit` and `after` ask for; the newest items come first unless `order` is asc.

    Raises:
        ApiError: 400, `param` naming the one that is not acceptable.
    """
    order, limit, after = query.get("order", "desc"), query.get("limit", str(USUAL)), query.get("after")
    if order not in {"asc", "desc"}:
        raise _wrong("order", "asc or desc")
    # isascii: `isdigit` also takes signs such as ², at which `int` fails.
    if not (limit.isascii() and limit.isdigit() and 1 <= int(limit) <= MOST):
        raise _wrong("limit", f"an integer from 1 to {MOST}")
    ordered = list(items) if order == "asc" else list(reversed(items))
    ids = [item["id"] for item in ordered]
    if after is not None and after not in ids:
        raise _wrong("after", "the id of an item of this list")
    start = 0 if after is None else ids.index(after) + 1
    data = ordered[start : start + int(limit)]
    return {
        "object": "list",
        "data": data,
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
        "has_more": start + int(limit) < len(ordered),
    }


def _wrong(param: str, right: str) -> ApiError:
    return ApiError(INVALID_PARAM, message=f"`{param}` must be {right}.", param=param)
