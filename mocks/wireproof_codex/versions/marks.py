"""Reads lists of names that are marked with the versions that have them.

    name              every version has it
    name+0.106        from 0.106 on
    name-0.160        until 0.160, which has it no longer
    name+0.134-0.150  from 0.134 on, until 0.150

Where versions were measured with gaps between them, a mark is the first version in which the change was seen.
"""

from __future__ import annotations

import re
from functools import cache
from math import inf

# The name is lazy: it may hold hyphens itself (`on-failure-0.150`).
_MARKED = re.compile(r"([^+]+?)(?:\+(0\.\d+))?(?:-(0\.\d+))?")


def minor(number: str) -> int:
    """The middle number of a version: 106 of 0.106 and of 0.106.2. Patches of a version are played alike."""
    return int(number.split(".")[1])


# The lists are constants, and each version that is derived reads all of them.
@cache
def _read(marked: str) -> tuple[tuple[str, float, float], ...]:
    """(name, first, gone) of each: 0 and infinity where there is no mark."""
    read = []
    for entry in marked.split():
        found = _MARKED.fullmatch(entry)
        if found is None:
            raise ValueError(f"{entry}: expected a name, then +FIRST or -GONE or both")
        name, first, gone = found.groups()
        read.append((name, minor(first) if first else 0, minor(gone) if gone else inf))
    return tuple(read)


def known(marked: str, number: str) -> tuple[str, ...]:
    """The names that the version has, in their order."""
    at = minor(number)
    return tuple(name for name, first, gone in _read(marked) if first <= at < gone)  # `gone` has it no longer


def unknown(marked: str, number: str) -> frozenset[str]:
    """The names that the version has not."""
    return frozenset(name for name, _, _ in _read(marked)).difference(known(marked, number))


def firsts(marked: str) -> frozenset[int]:
    """The versions (106 of 0.106) that gained or lost one of the names."""
    return frozenset(int(end) for _, *ends in _read(marked) for end in ends if 0 < end < inf)
