"""Measure the search of a vault: how long the first takes, which reads every note, and how long those after it.

    python benchmarks/vault_search.py [NOTES]

It writes NOTES notes (10,000 if not given) of 4 kB into 100 folders of a temporary one, and prints a row of a Markdown
table for each question: the median and the worst of its runs. Half of the searches find nothing, so they look at all.
"""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof_mocks.personas.vault.tools import VaultTools
from wireproof_mocks.personas.vault.vault import Vault

if TYPE_CHECKING:
    from collections.abc import Callable

NOTES = 10_000
FOLDERS = 100
LINE = "Ein Satz über Grüße, caffè und release notes, der in jeder Notiz steht.\n"
LINES = 55
"""So many lines make 4 kB."""
RUNS = 20


def write(folder: Path, notes: int) -> None:
    """The vault: each note has a word of its own."""
    for number in range(notes):
        below = folder / f"Folder {number % FOLDERS:02}"
        below.mkdir(exist_ok=True)
        text = f"# Note {number}\n\n{LINE * LINES}needle{number}x\n"
        (below / f"Note {number}.md").write_text(text, encoding="utf-8")


def seconds(run: Callable[[], object]) -> float:
    """How long it takes."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def row(question: str, *runs: float) -> None:
    """Print a row."""
    print(f"| {question} | {statistics.median(runs) * 1000:.0f} ms | {max(runs) * 1000:.0f} ms |")  # noqa: T201 (a program)


def main(notes: int) -> None:
    """Measure, and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, notes)
        tools = VaultTools(vault=Vault(folder=folder), print=lambda _: None)
        print(f"| {notes:,} notes of 4 kB | median | worst |\n| --- | --- | --- |")  # noqa: T201 (a program)
        row("the first search", seconds(lambda: tools.search("nowhere in there")))
        row("a search that finds nothing", *(seconds(lambda: tools.search("nowhere in there")) for _ in range(RUNS)))
        words = [f"needle{notes * number // RUNS}x" for number in range(RUNS)]
        row("a search that finds one note", *(seconds(lambda word=word: tools.search(word)) for word in words))  # type: ignore[misc]
        row("one that finds fifty", *(seconds(lambda: tools.search("release", 50)) for _ in range(RUNS)))
        changed = folder / "Folder 00" / "Note 0.md"

        def after_a_change(number: int) -> None:
            changed.write_text(f"changed {number}", encoding="utf-8")
            tools.search("nowhere in there")

        row("one after a note has changed", *(seconds(lambda at=at: after_a_change(at)) for at in range(RUNS)))  # type: ignore[misc]


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else NOTES)
