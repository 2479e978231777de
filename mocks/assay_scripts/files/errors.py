"""The error for a script that cannot be read."""

from __future__ import annotations


class ScriptError(ValueError):
    """A script cannot be read. The message is `file: place: problem`, without the parts that are empty."""

    def __init__(self, place: str, problem: str, file: str = "") -> None:
        super().__init__(": ".join(part for part in (file, place, problem) if part))
        self.file = file
        self.place = place
        """Where in the data (`scripts[0].parts[1][0].say`); of a file also the line and the name of the script."""
        self.problem = problem
        """What is wrong, and what would be right."""

    def in_file(self, file: str) -> ScriptError:
        """The same error with the name of the file."""
        return ScriptError(self.place, self.problem, file)
