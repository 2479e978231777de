"""`python -m wireproof_proxy.backends.cursor.search FOLDER`: search files of the scratch folder, in an own process.

GrepArgs come on stdin, a GrepResult goes to stdout. A pattern that a model wrote may take longer than anyone waits;
a process can be ended then, a thread cannot.
"""

from __future__ import annotations

import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof_cursor_protos.agent_pb2 import (
    GrepArgs,
    GrepContentMatch,
    GrepFileCount,
    GrepFileMatch,
    GrepResult,
    GrepUnionResult,
)
from wireproof_proxy.backends.cursor.scratch import OutsideError, Scratch

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST = 2**20
"""Bytes of a file that are searched."""
LONGEST = 2000
"""Characters of a line that are returned."""
MOST = 1000
"""Files, or matches, that are returned."""


def search(scratch: Scratch, args: GrepArgs) -> GrepResult:
    """The files that match, their lines, or how many those are."""
    try:
        pattern = _pattern(args)
        files = sorted(name for name in scratch.files(args.path) if _fits(name, args))
    except (OutsideError, OSError, re.error, RecursionError) as error:
        return _failed(error)
    found = GrepResult()
    success = found.success
    success.pattern, success.path = args.pattern, args.path
    # Without a pattern it is a search by name.
    success.output_mode = (args.output_mode or "content") if args.pattern else "files_with_matches"
    matches = _matches(scratch, args, files, pattern) if args.pattern else ((name, []) for name in files)
    most = min(args.head_limit, MOST) if args.head_limit > 0 else MOST
    success.workspace_results[str(scratch.folder)].CopyFrom(_MODES[success.output_mode](list(matches), most))
    return found


def _failed(error: Exception) -> GrepResult:
    # The path of an OSError would show where the folder is.
    why = (error.strerror or "cannot be read") if isinstance(error, OSError) else str(error)
    return GrepResult(error={"error": why})


def _pattern(args: GrepArgs) -> re.Pattern[str]:
    flags = re.IGNORECASE if args.case_insensitive else 0
    if args.HasField("output_mode") and args.output_mode not in _MODES:
        raise OutsideError(f"no output mode: {args.output_mode}")
    return re.compile(args.pattern, flags)


def _fits(name: str, args: GrepArgs) -> bool:
    """Whether a file is one of those that the glob names: by its path, or by its name alone."""
    if not args.glob:
        return True
    glob = args.glob.removeprefix("./")
    last = name.rpartition("/")[2]
    # `**/` also stands for no folder at all.
    return any(fnmatchcase(name, one) for one in {glob, glob.replace("**/", "")}) or (
        "/" not in glob and fnmatchcase(last, glob)
    )


Lines = list[tuple[int, str]]


def _matches(
    scratch: Scratch, args: GrepArgs, files: list[str], pattern: re.Pattern[str]
) -> Iterator[tuple[str, Lines]]:
    for name in files:
        try:
            data, _ = scratch.read("/".join(filter(None, (args.path, name))), LARGEST)
        except (OutsideError, OSError):  # it vanished
            continue
        # As grep does: a file with a zero byte is no text.
        if b"\0" in data:
            continue
        lines = [line.decode(errors="replace") for line in data.splitlines()]  # bytes have no other line ends
        if found := [(number, line) for number, line in enumerate(lines, 1) if pattern.search(line)]:
            yield name, found


def _as_files(found: list[tuple[str, Lines]], most: int) -> GrepUnionResult:
    result = GrepUnionResult()
    result.files.files.extend(name for name, _ in found[:most])
    result.files.total_files = len(found)
    result.files.client_truncated = len(found) > most
    return result


def _as_counts(found: list[tuple[str, Lines]], most: int) -> GrepUnionResult:
    result = GrepUnionResult()
    result.count.counts.extend(GrepFileCount(file=name, count=len(lines)) for name, lines in found[:most])
    result.count.total_files = len(found)
    result.count.total_matches = sum(len(lines) for _, lines in found)
    result.count.client_truncated = len(found) > most
    return result


def _as_content(found: list[tuple[str, Lines]], most: int) -> GrepUnionResult:
    result = GrepUnionResult()
    left = most
    for name, lines in found:
        kept = lines[:left]
        left -= len(kept)
        if kept:
            result.content.matches.append(GrepFileMatch(file=name, matches=[_line(*line) for line in kept]))
    total = sum(len(lines) for _, lines in found)
    result.content.total_lines = result.content.total_matched_lines = total
    result.content.client_truncated = total > most
    return result


def _line(number: int, text: str) -> GrepContentMatch:
    return GrepContentMatch(line_number=number, content=text[:LONGEST], content_truncated=len(text) > LONGEST)


_MODES = {"content": _as_content, "files_with_matches": _as_files, "count": _as_counts}


def main() -> None:
    """Answer one search."""
    args = GrepArgs.FromString(sys.stdin.buffer.read())
    sys.stdout.buffer.write(search(Scratch(Path(sys.argv[1])), args).SerializeToString())


if __name__ == "__main__":
    main()
