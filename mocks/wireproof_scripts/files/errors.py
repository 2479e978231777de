"""The error for a script that cannot be read."""

from __future__ import annotations


class ScriptError(ValueError):
    """A script cannot be read. The message is `file: line, column, place: problem`, as far as these are known."""

    def __init__(
        self,
        place: str,
        problem: str,
        file: str = "",
        *,
        script: str = "",
        at: tuple[int, int] | None = None,
        unread: bool = False,
    ) -> None:
        where = ", ".join(filter(None, [f"line {at[0]}, column {at[1]}" if at else "", place]))
        where += f" in the script {script}" if script else ""
        super().__init__(": ".join(part for part in (file, where, problem) if part))
        self.file = file
        self.place = place
        """Where in the data (`scripts[0].parts[1][0].say`)."""
        self.problem = problem
        """What is wrong, and what would be right."""
        self.script = script
        """The name of the script; "" if it has none, or the mistake is in no script."""
        self.at = at
        """Line and column, from 1; None where they are not known."""
        self.unread = unread
        """The file could not be read at all."""

    def in_file(self, file: str) -> ScriptError:
        """The same error with the name of the file."""
        return ScriptError(self.place, self.problem, file, script=self.script, at=self.at, unread=self.unread)

    def located(self, at: tuple[int, int] | None, script: str) -> ScriptError:
        """The same error with its line and column, and the name of the script."""
        return ScriptError(self.place, self.problem, self.file, script=script, at=at, unread=self.unread)
