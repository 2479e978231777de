"""Codex as npm installs it: `codex exec`, run once in a folder, with a clean home and no network but loopback."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

from elsewhere import elsewhere, native

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

BINARY = "@openai/codex-*/vendor/*/bin/codex"
DEADLINE = 120.0
"""Seconds for one run; an idle machine needs two, and eight where it asks again."""
CONFIG = """\
model = "codex"
model_provider = "wireproof"
check_for_update_on_startup = false
analytics.enabled = false
features.apps = false
features.plugins = false

[model_providers.wireproof]
name = "wireproof"
base_url = {url}
wire_api = "responses"
env_key = "WIREPROOF_KEY"
requires_openai_auth = false
"""


def run(
    prompt: str, *, folder: Path, home: Path, url: str, key: str, servers: Mapping[str, Mapping[str, Any]]
) -> str | None:
    """What it says to a prompt, all texts joined; None: it fails. `servers`: its MCP servers, by name."""
    config = CONFIG.format(url=json.dumps(url))
    for name, server in servers.items():
        # A text or a list of texts is the same in TOML.
        config += f"\n[mcp_servers.{name}]\n" + "".join(f"{key} = {json.dumps(one)}\n" for key, one in server.items())
    (home / "config.toml").write_text(config, encoding="utf-8")
    with elsewhere() as (away, _):
        done = subprocess.run(
            [native(BINARY), "exec", "--json", "--skip-git-repo-check", prompt],
            cwd=folder, env={"PATH": os.environ["PATH"], "HOME": str(home), "CODEX_HOME": str(home),
                             "WIREPROOF_KEY": key, **away},
            stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=DEADLINE, check=False,
        )  # fmt: skip
    items = [json.loads(line).get("item", {}) for line in done.stdout.splitlines() if line.startswith("{")]

    return None if done.returncode else "".join(one["text"] for one in items if one.get("type") == "agent_message")
