"""OpenCode, `run`: with the endpoint as its model, and nothing of its own."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import json
import os
import platform
import sys

from agent_home import MODEL, become, native, new_home

ARCHITECTURE = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
CONFIGURATION = {
    "model": f"wireproof/{MODEL}",
    "provider": {
        "wireproof": {
            "npm": "@ai-sdk/openai-compatible",  # it comes with OpenCode
            "options": {"baseURL": os.environ["OPENAI_BASE_URL"], "apiKey": os.environ["OPENAI_API_KEY"]},
            "models": {MODEL: {"name": MODEL}},
        }
    },
    "permission": {"edit": "allow", "bash": "deny", "webfetch": "deny"},
    "autoupdate": False,
    "share": "disabled",
}
SILENT = ("AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS", "LSP_DOWNLOAD")

home = new_home()
(home / "work" / "opencode.json").write_text(json.dumps(CONFIGURATION), encoding="utf-8")
become(
    home,
    # With a title of its own, or it asks the model for one first.
    [native(f"opencode-{sys.platform}-{ARCHITECTURE}/bin/opencode"), "run", "--title", "wireproof", sys.argv[1]],
    {
        **{f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "CACHE", "STATE")},
        **{f"OPENCODE_DISABLE_{what}": "1" for what in SILENT},
    },
)
