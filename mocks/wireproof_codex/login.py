"""`codex login status`: says whether there is a login, on stderr, as codex does. The other logins are refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof_codex.settings import CodexUsageError
from wireproof_scripts.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Sequence

_NONE, _CHATGPT = "Not logged in", "Logged in using ChatGPT"
_SHORT = 13  # the longest key of which nothing is shown


def status(arguments: Sequence[str], home: str, key_login: str) -> int:
    """Say what login the folder `home` holds, of a key as `key_login` says; the exit status, 1 without one.

    Raises:
        CodexUsageError: something else of `codex login` is asked for.
    """
    if list(arguments) != ["status"]:
        raise CodexUsageError("wireproof-codex does not play `codex login`, only `login status`")
    try:
        said = _login(Path(home, "auth.json"), key_login)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"Error checking login status: {error}\n")
        return 1
    sys.stderr.write(f"{said or _NONE}\n")
    return 0 if said else 1


def _login(file: Path, key_login: str) -> str | None:
    if not file.exists():
        return None
    read = parse_json(file.read_bytes())
    if not isinstance(read, dict):
        return None
    key = read.get("OPENAI_API_KEY")
    if isinstance(key, str) and read.get("auth_mode") in {None, "apikey"}:
        return key_login.format(key=f"{key[:8]}***{key[-5:]}" if len(key) > _SHORT else "***")
    return _CHATGPT if read.get("tokens") else None
