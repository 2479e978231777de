"""Codex, `exec`: with the endpoint as its model's service, and with the retries that it has by itself."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import os
import sys

from agent_home import become, native, new_home

CONFIG = """\
model = "codex"
model_provider = "wireproof"
check_for_update_on_startup = false
analytics.enabled = false
features.apps = false
features.plugins = false

[model_providers.wireproof]
name = "wireproof"
base_url = "{url}"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
requires_openai_auth = false
"""

home = new_home()
(home / "config.toml").write_text(CONFIG.format(url=os.environ["OPENAI_BASE_URL"]), encoding="utf-8")
become(
    home,
    [native("@openai/codex-*/vendor/*/bin/codex"), "exec", "--skip-git-repo-check", sys.argv[1]],
    {"CODEX_HOME": str(home)},
)
