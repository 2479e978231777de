"""OpenCode as npm installs it: its binary, run once in a folder, with no network but loopback."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elsewhere import elsewhere, native

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

BINARY = "opencode-{machine}/bin/opencode"
DEADLINE = 120.0
"""Seconds for one run; an idle machine needs ten."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a run ended."""

    status: int
    said: str
    """What it printed as the model's text."""
    log: str
    elsewhere: list[str]
    """What it asked of any other host than this one."""


def run(
    prompt: str, *, folder: Path, home: Path, url: str, key: str, package: str = "@ai-sdk/openai-compatible",
    servers: Mapping[str, Any] | None = None,
) -> Ended:  # fmt: skip
    """Let it work in a folder on what a prompt asks, with a proxy as its model.

    `package` is that of the AI SDK which asks, one that comes with OpenCode; `servers` are its MCP servers, by name.
    """
    configuration = {**_configuration(url, key, package), "mcp": servers or {}}
    (folder / "opencode.json").write_text(json.dumps(configuration), encoding="utf-8")
    with elsewhere() as (away, asked):
        done = subprocess.run(
            # With a title of its own, or it asks the model for one first.
            [native(BINARY), "run", "--print-logs", "--title", "wireproof", prompt],
            cwd=folder, env=_environment(home, away), stdin=subprocess.DEVNULL,
            capture_output=True, encoding="utf-8", timeout=DEADLINE, check=False,
        )  # fmt: skip
    return Ended(status=done.returncode, said=done.stdout.strip(), log=done.stderr, elsewhere=asked)


def _configuration(url: str, key: str, package: str) -> dict[str, Any]:
    provider = {
        "npm": package,
        "options": {"baseURL": url, "apiKey": key},
        "models": {"codex": {"name": "codex"}},
    }
    return {
        "model": "wireproof/codex",
        "provider": {"wireproof": provider},
        "permission": {"edit": "allow", "bash": "deny", "webfetch": "deny"},
        "autoupdate": False,
        "share": "disabled",
    }


def _environment(home: Path, away: dict[str, str]) -> dict[str, str]:
    folders = {f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "CACHE", "STATE")}
    silent = dict.fromkeys(
        (
            "OPENCODE_DISABLE_AUTOUPDATE",
            "OPENCODE_DISABLE_MODELS_FETCH",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS",
            "OPENCODE_DISABLE_LSP_DOWNLOAD",
        ),
        "1",
    )
    return {"PATH": os.environ["PATH"], "HOME": str(home), **folders, **away, **silent}
