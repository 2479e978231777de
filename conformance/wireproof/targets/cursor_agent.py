"""Cursor's agent service as the backend of a launched proxy: the mock of it, which plays the scripts."""

from __future__ import annotations

import secrets
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof.targets.kinds import OptionError
from wireproof.targets.ports import free_port
from wireproof_scripts.library import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, kw_only=True)
class CursorAgent:
    """A service that runs, and an address at which none does."""

    url: str
    """Its base URL."""
    nowhere: str
    """A base URL on which nothing listens."""
    folder: Path
    """A scratch folder for the reference proxy, with a link that leads out of it."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    """Any will do: the mock takes whatever bearer token comes."""

    @property
    def env(self) -> Mapping[str, str]:
        """The variables by which a proxy finds it."""
        return {"CURSOR_BASE_URL": self.url, "CURSOR_TOKEN": self.token}

    @property
    def unready(self) -> Mapping[str, str]:
        """The variables by which a proxy finds none."""
        return {**self.env, "CURSOR_BASE_URL": self.nowhere}

    def placeholders(self, url: str) -> dict[str, str]:
        """What stands for a service in commands and variables → what is filled in."""
        return {"{backend_url}": url, "{backend_token}": self.token}


@contextmanager
def cursor_agent() -> Iterator[CursorAgent]:
    """The service for the length of a `with` block.

    Raises:
        OptionError: what serves it is not installed.
    """
    try:
        from wireproof_cursor.serving import serving  # noqa: PLC0415 (a server of HTTP/2 would slow every start)
    except ModuleNotFoundError as error:
        raise OptionError(f"--backend cursor needs python -m pip install 'wireproof[cursor]' ({error})") from error

    with serving(LIBRARY) as mock, tempfile.TemporaryDirectory() as folder:
        Path(folder, "notes.md").write_text("TODO: nothing.\n", encoding="utf-8")
        Path(folder, "link-to-passwd").symlink_to("/etc/passwd")
        yield CursorAgent(url=mock.url, nowhere=f"http://127.0.0.1:{free_port()}", folder=Path(folder))
