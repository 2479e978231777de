"""The Responses service behind a ChatGPT login, which gateways with such a login call as Codex does. Pure.

It takes the requests of `/v1/responses` and streams the same events, but it takes streams only and keeps nothing. What
it refuses itself, it says in `{"detail": …}`; its last event leaves the output empty, so a client has to put it
together from the items; and headers say how much of the account's limits is used. All of it as users of the service
reported it from April to October 2026: it is not documented. That `instructions` are required is what users of eight
gateways quoted from January to May 2026; Codex 0.169.0 and ChatMock 1.40 send none, so it is a demand that can be asked
for. The limits used are in the form that public readers of them describe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wireproof_surfaces.surfaces.rules import Body

ROOT = "/backend-api/codex/"
PATH = f"{ROOT}responses"
COMPACT = f"{PATH}/compact"
USAGE = (f"{ROOT}usage", "/backend-api/wham/usage", "/api/codex/usage")
"""Where clients ask how much of the account's limits is used."""
MODELS = f"{ROOT}models"
"""Where Codex asks which models the account may use, `client_version` in its query."""

# Codex sends neither over HTTP.
UNSUPPORTED = ("max_output_tokens", "previous_response_id")
"""Parameters that are refused."""

HEADERS: Mapping[str, str] = {
    "x-codex-plan-type": "plus",
    "x-codex-active-limit": "premium",
    # The share of the limit for five hours that is used, and of that for a week.
    "x-codex-primary-used-percent": "1",
    "x-codex-primary-window-minutes": "300",
    "x-codex-primary-reset-after-seconds": "17000",
    "x-codex-secondary-used-percent": "10",
    "x-codex-secondary-window-minutes": "10080",
    "x-codex-secondary-reset-after-seconds": "500000",
    "x-codex-primary-over-secondary-limit-percent": "0",
    "x-codex-credits-has-credits": "False",
    "x-codex-credits-unlimited": "False",
}
"""Headers of every answer."""


def refusal(body: Body, *, wants_instructions: bool = False) -> str | None:
    """What the service says of a request that it does not take; None for one that it takes."""
    if body.get("store") is not False:
        return "Store must be set to false"
    if body.get("stream") is not True:
        return "Stream must be set to true"
    if wants_instructions and not body.get("instructions"):
        return "Instructions are required"
    return next((f"Unsupported parameter: {name}" for name in UNSUPPORTED if body.get(name) is not None), None)


def is_path(path: str) -> bool:
    """Whether a path is one of this service's, which takes the token of a login."""
    return path.startswith(ROOT) or path in USAGE


def usage(now: float) -> dict[str, Any]:
    """How much of the limits is used, at `now` (epoch seconds): the same as the headers say."""
    return {
        "plan_type": HEADERS["x-codex-plan-type"],
        "rate_limit": {
            "allowed": True,
            "limit_reached": False,
            "primary_window": _window("primary", now),
            "secondary_window": _window("secondary", now),
        },
        "credits": {"has_credits": False, "unlimited": False, "balance": "0"},
    }


def _window(name: str, now: float) -> dict[str, int]:
    used, minutes, seconds = (
        int(HEADERS[f"x-codex-{name}-{what}"]) for what in ("used-percent", "window-minutes", "reset-after-seconds")
    )
    return {
        "used_percent": used,
        "limit_window_seconds": 60 * minutes,
        "reset_after_seconds": seconds,
        "reset_at": int(now) + seconds,
    }


def models(names: Iterable[str]) -> dict[str, Any]:
    """The list of models: what gateways read of it, which is less than Codex does."""
    return {"models": [_model(name, priority) for priority, name in enumerate(names)]}


def _model(name: str, priority: int) -> dict[str, Any]:
    efforts = [{"effort": effort, "description": ""} for effort in ("low", "medium", "high")]
    return {
        "slug": name,
        "display_name": name,
        "description": None,
        "default_reasoning_level": "medium",
        "supported_reasoning_levels": efforts,
        "shell_type": "shell_command",
        "visibility": "list",
        "supported_in_api": True,
        "priority": priority,
    }
