"""The models as the Messages API lists them, page by page. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from wireproof_surfaces.messages.faults import fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wireproof_surfaces.surfaces.json_text import Json

# The service's own limits of a page.
MOST = 1000
USUAL = 20


def model(name: str, created: int) -> Json:
    """A model; `created` in epoch seconds."""
    made = datetime.fromtimestamp(created, UTC).isoformat().replace("+00:00", "Z")
    return {"type": "model", "id": name, "display_name": name, "created_at": made}


def page(names: Iterable[str], created: int, query: Mapping[str, str]) -> Json:
    """The page that `limit`, `after_id` and `before_id` ask for.

    Raises:
        ApiError: 400, naming the one that is not acceptable.
    """
    listed = list(names)
    limit = _limit(query)
    if "before_id" in query:
        end = _place(listed, query, "before_id")
        begin, more = max(0, end - limit), end > limit
    else:
        begin = _place(listed, query, "after_id") + 1 if "after_id" in query else 0
        end, more = begin + limit, begin + limit < len(listed)
    data = [model(name, created) for name in listed[begin:end]]
    ends = {"first_id": data[0]["id"] if data else None, "last_id": data[-1]["id"] if data else None}
    return {"data": data, "has_more": more, **ends}


def _limit(query: Mapping[str, str]) -> int:
    limit = query.get("limit", str(USUAL))
    # isascii: `isdigit` also takes signs such as ², at which `int` fails.
    if not (limit.isascii() and limit.isdigit()):
        raise fault("limit", "Input should be a valid integer")
    if not 1 <= int(limit) <= MOST:
        raise fault("limit", f"Input should be an integer from 1 to {MOST}")
    return int(limit)


def _place(names: Sequence[str], query: Mapping[str, str], name: str) -> int:
    if query[name] not in names:
        raise fault(name, "there is no model of this id")
    return names.index(query[name])
