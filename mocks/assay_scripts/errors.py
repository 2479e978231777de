"""What is said of a script that cannot be read."""

from __future__ import annotations


class ScriptError(ValueError):
    """A script cannot be read: where it stands, and what would be right there."""

    def __init__(self, place: str, problem: str, file: str = "") -> None:
        super().__init__(": ".join(part for part in (file, place, problem) if part))
        self.file, self.place, self.problem = file, place, problem

    def in_file(self, file: str) -> ScriptError:
        """The same error, naming the file."""
        return ScriptError(self.place, self.problem, file)
