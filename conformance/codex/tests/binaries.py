"""The real Codex binaries that are installed beside this Python, and the homes that they are given.

A home makes a Codex that is not logged in ask the scripted model's service, and nobody else.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof_codex.versions.marks import minor
from wireproof_codex.versions.version import NEWEST as _NEWEST

if TYPE_CHECKING:
    from collections.abc import Mapping

INSTALLED = Path(sys.prefix) / "codex" / "node_modules"

_TRIPLES = {
    ("Linux", "x86_64"): "x86_64-unknown-linux-musl",
    ("Linux", "aarch64"): "aarch64-unknown-linux-musl",
    ("Darwin", "x86_64"): "x86_64-apple-darwin",
    ("Darwin", "arm64"): "aarch64-apple-darwin",
}
NEWEST = _NEWEST.number
"""The newest that the mock plays; package.json installs the same."""
_PLACES = {
    "0.89.0": "codex-0.89.0/vendor/{triple}/codex/codex",
    NEWEST: "@openai/codex-*/vendor/{triple}/bin/codex",
}
"""The native binary of each version: without the launcher in front of it, a signal reaches the server itself."""
VERSIONS = tuple(_PLACES)

_CONFIG = """\
model = "mock-model"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
analytics.enabled = false
{features}

[model_providers.mock]
name = "mock"
base_url = "{url}"
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0
stream_idle_timeout_ms = {idle_ms}
"""
_SERVER = """
[mcp_servers.mini]
command = "{python}"
args = ["{program}"]
"""
# What keeps a Codex from speaking to others, and from trying again; a version passes over what it does not know.
_FEATURES_0_89 = "features.remote_models = false"
_FEATURES = "features.plugins = false\nfeatures.apps = false\nfeatures.unbounded_connection_retries = false"
_SINCE = 105  # 0.105.0 lost the first


def binary(version: str) -> Path:
    """The native binary of a version of the nightly tests; it must be there."""
    found = native(INSTALLED, _PLACES[version])
    assert found, f"codex {version} is not installed in {INSTALLED}; see install.py"
    return found


def native(modules: Path, place: str = "@openai/codex*/vendor/{triple}/*/codex") -> Path | None:
    """The native binary below a folder of npm's modules, None where there is none for this machine."""
    found = sorted(modules.glob(place.format(triple=_TRIPLES[platform.system(), platform.machine()])))
    return found[0] if found else None


def furnish(home: Path, version: str, url: str, *, idle_ms: int = 20_000, served: bool = False) -> None:
    """Make `home` that of a Codex whose model's service is at this base URL, and may be silent for `idle_ms`.

    `served`: with the MCP server `mini`.
    """
    home.mkdir(parents=True, exist_ok=True)
    features = _FEATURES if minor(version) >= _SINCE else _FEATURES_0_89
    server = _SERVER.format(python=sys.executable, program=Path(__file__).with_name("mcp_server.py")) if served else ""
    (home / "config.toml").write_text(_CONFIG.format(features=features, url=url, idle_ms=idle_ms) + server)


def surroundings(home: Path) -> Mapping[str, str]:
    """The environment of a Codex with this home."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LANG", "PYTHONPATH") if name in os.environ}
    return {**kept, "HOME": str(home), "CODEX_HOME": str(home), "RUST_LOG": "error"}
