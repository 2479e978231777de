"""A mock `codex app-server`: a pure protocol core, the versions it can be, and a thin stdio edge."""
