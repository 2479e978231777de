"""Claude Code, `-p`: with the endpoint as its service, and nothing of its own."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import platform
import sys

from agent_home import become, native, new_home

ARCHITECTURE = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
SILENT = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL",
    "DISABLE_AUTOUPDATER",
    "DISABLE_TELEMETRY",
)

home = new_home()
become(
    home,
    [
        native(f"@anthropic-ai/claude-code-{sys.platform}-{ARCHITECTURE}/claude"),
        "-p",
        sys.argv[1],
        "--model",
        "claude-4",
    ],
    {"HOME": str(home), **dict.fromkeys(SILENT, "1")},
)
