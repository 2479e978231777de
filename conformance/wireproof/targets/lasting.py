"""Refusals that no waiting ends, and no change of the request: what is wrong, and what would be right.

Services say it by the status, by `code` and `type` of the error, or in its message alone. That a key is missing or
wrong is what is left of the statuses 401 and 403: a region, an account and a plan are refused by the same ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

UNAUTHORIZED = 401
NO_ENTRY = frozenset({UNAUTHORIZED, 403})
"""Statuses that ask for a key, if nothing else is said."""
_SPEAK = NO_ENTRY | {429}
"""Statuses whose messages are read."""


_OF_KEYS = re.compile(r"\b(api[ _-]?key|token|credentials?|authenticat\w*|unauthori[sz]ed)\b", re.IGNORECASE)
"""What a message has that is about a key."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Lasting:
    """One reason of such refusals."""

    says: str
    """What is wrong, and what would be right."""
    names: frozenset[str]
    """`code` or `type` of the error."""
    words: re.Pattern[str]
    """What its message has."""
    statuses: frozenset[int] = frozenset()
    """Statuses that mean nothing else."""


_REASONS = (
    _Lasting(
        says="it does not serve the region from which it is asked; run this from one that it serves",
        names=frozenset({"unsupported_country_region_territory", "unsupported_country", "unsupported_region"}),
        words=re.compile(r"\b(country|countries|regions?|territory|territories)\b", re.IGNORECASE),
        statuses=frozenset({451}),
    ),
    _Lasting(
        says="the account is closed; use the key of another one",
        names=frozenset({"account_deactivated", "access_terminated", "account_suspended"}),
        words=re.compile(r"\b(account|organi[sz]ation)\b.*\b(deactivated|disabled|suspended)\b", re.IGNORECASE),
    ),
    _Lasting(
        says="the quota or the credit of the account is used up; raise it, or use the key of another account",
        names=frozenset({
            "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance",
            "insufficient_credits", "quota_exceeded",
        }),
        words=re.compile(r"\binsufficient (balance|credits?|funds|quota)\b", re.IGNORECASE),
        statuses=frozenset({402}),
    ),
    _Lasting(
        says="the account may not do this; use the key of one that may",
        names=frozenset({"permission_denied", "permission_error", "permissiondenied"}),
        words=re.compile(r"\b(not have (access|permission)|permission denied|not allowed to)\b", re.IGNORECASE),
    ),
)  # fmt: skip


def is_about_key(error: Mapping[str, object] | None) -> bool:
    """Whether a refusal says that it is the key that is not taken."""
    said = error or {}
    return any(_OF_KEYS.search(str(said.get(name)).replace("_", " ")) for name in ("message", "code", "type"))


def lasting(status: int | None, error: Mapping[str, object] | None) -> str:
    """Why a refusal lasts, and what would be right; "": it need not, or it is about the key alone."""
    said = error or {}
    names = {str(said.get(one)).casefold() for one in ("code", "type")}
    # By what is named first: a message speaks of regions and accounts in passing, too.
    named = (one.says for one in _REASONS if names & one.names or status in one.statuses)
    worded = (one.says for one in _REASONS if status in _SPEAK and one.words.search(str(said.get("message"))))
    return next(named, "") or next(worded, "")
