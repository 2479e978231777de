"""Known failures: declared with a reason, still run, and an error once they pass.

A file has one per line, `<scenario>:<requirement> <reason>`; empty lines and lines that begin with # are ignored.
"""

from __future__ import annotations

import dataclasses
from difflib import get_close_matches
from typing import TYPE_CHECKING

from wireproof.model.verdict import Outcome, Verdict
from wireproof_scripts.files.regular import content_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

LARGEST = 1 << 24
"""Bytes that a file of known failures may have; a line for each failure of a whole run has some 100 kB."""

SHOWN = 200
"""Characters of a wrong line that a message quotes."""


class KnownFailingError(Exception):
    """A known-failing file that cannot be used; the message names file, line and what would be right."""


def load(path: Path, keys: Collection[str]) -> dict[str, str]:
    """The reasons in a file, by `<scenario>:<requirement>`. `keys` are those that exist.

    Raises:
        KnownFailingError: the file cannot be read, or a line of it is wrong.
    """
    try:
        lines = content_of(path, LARGEST).decode("utf-8-sig").splitlines()  # as editors on Windows write it
    except (OSError, UnicodeDecodeError) as error:
        raise KnownFailingError(f"{path} cannot be read: {error}") from error
    reasons: dict[str, str] = {}
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith("#"):
            continue
        key, *rest = line.split(maxsplit=1)
        # A renamed requirement would otherwise leave a line behind that excuses nothing.
        if key not in keys:
            raise KnownFailingError(f"{path}, line {number}: {_unknown(key, keys)}")
        if not rest:
            raise KnownFailingError(f"{path}, line {number}: {key} needs a reason behind it")
        if key in reasons:
            raise KnownFailingError(f"{path}, line {number}: an earlier line declares {key} already")
        reasons[key] = rest[0]
    return reasons


def named(reasons: Mapping[str, str], keys: Collection[str]) -> dict[str, str]:
    """The same, given one by one: by `<scenario>:<requirement>`, which must be one of `keys`.

    Raises:
        KnownFailingError: one is not.
    """
    for key in reasons:
        if key not in keys:
            raise KnownFailingError(f"known: {_unknown(key, keys)}")
    return dict(reasons)


def _unknown(key: str, keys: Collection[str]) -> str:
    """What is wrong with a key that there is not, which may be of any length."""
    close = get_close_matches(key[:SHOWN], keys, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"{key[:SHOWN]!r} is no <scenario>:<requirement> of this suite{hint}"


def apply(outcomes: Iterable[Outcome], reasons: Mapping[str, str]) -> tuple[Outcome, ...]:
    """Mark the failures that are known; a known failure that passes becomes a failure, since its line is stale.

    What was not observed, or could not be driven, is left as it is.
    """
    return tuple(_marked(outcome, reasons.get(outcome.key)) for outcome in outcomes)


def _marked(outcome: Outcome, reason: str | None) -> Outcome:
    match outcome.verdict:
        # One that passes but for what is counted elsewhere does fail: its line excuses nothing and is not stale.
        case Verdict.PASS if reason and not outcome.reason:
            # A line that excuses nothing would hide the next time that the requirement is broken.
            stale = f"it passes, but is declared as known failing ({reason}); remove its line"
            return dataclasses.replace(outcome, verdict=Verdict.FAIL, reason=stale)
        case Verdict.FAIL | Verdict.WARN if reason:
            return dataclasses.replace(outcome, known=reason)
        case _:
            return outcome
