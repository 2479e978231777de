"""The tools `vault_search` and `file_read` of ChatGPT MD, as its specification has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING

from wireproof_mocks.personas.line import Line, LineKind
from wireproof_mocks.personas.vault.vault import NotFoundError, NotReadableError, Vault, folded

if TYPE_CHECKING:
    from wireproof_mocks.personas.answer import Json
    from wireproof_mocks.personas.line import Print
    from wireproof_mocks.personas.vault.vault import VaultNote

LIMIT, MOST = 10, 50
"""How many results a search gives, if it does not say, and at most."""
CONTEXT = 100
"""How many characters of a preview stand on each side of a match."""
PREVIEW = 200
"""How many characters a preview has where the text does not hold what was searched for."""
NO_TEXT = "(no text: the file is not UTF-8)"
PREFIX = "[ChatGPT MD]"
"""How every line in ChatGPT MD's console begins."""


class AbortedError(Exception):
    """The user has stopped the conversation."""

    def __str__(self) -> str:
        """As the model would read it."""
        return "The operation was aborted"


@dataclass(frozen=True, kw_only=True)
class VaultTools:
    """The tools on one vault."""

    vault: Vault
    print: Print
    abort: Event = field(default_factory=Event)
    """Set: nothing more is read."""

    def search(self, query: str, limit: float = LIMIT) -> list[Json]:
        """The notes that have the query in their name or else in their text, whatever its case."""
        sought = folded(query)
        results: list[Json] = []
        for note in self.vault.notes():
            self._go_on()
            if len(results) >= min(limit, MOST):
                break
            if sought in folded(note.basename) or sought in note.folded:
                results.append(_found(note, sought))
        self.print(Line(LineKind.LOG, f'{PREFIX} Vault search: "{query}" found {len(results)} results'))
        return results

    def read(self, paths: list[str]) -> list[Json]:
        """The content of each file; a file that is missing or cannot be read says so in its place."""
        results = []
        for path in paths:
            self._go_on()
            results.append(self._read(path))
        self.print(Line(LineKind.LOG, f"{PREFIX} Read {len(results)} files"))
        return results

    def _read(self, path: str) -> Json:
        try:
            text = self.vault.read(path)
        except NotFoundError:
            return {"path": path, "content": f"File not found: {path}", "size": 0}
        except NotReadableError as error:
            return {"path": path, "content": f"Error reading file: {error}", "size": 0}
        return {"path": path, "content": text, "size": len(text.encode())}

    def _go_on(self) -> None:
        if self.abort.is_set():
            raise AbortedError


def _found(note: VaultNote, sought: str) -> Json:
    text = NO_TEXT if note.text is None else preview(note.text, note.folded.find(sought), len(sought))
    return {"path": note.path, "basename": note.basename, "matches": 1, "preview": text}


def preview(text: str, at: int, length: int) -> str:
    """The text around a match at this place, or its beginning (-1); dots where more of it would follow."""
    start, end = (max(0, at - CONTEXT), at + length + CONTEXT) if at >= 0 else (0, PREVIEW)
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"
