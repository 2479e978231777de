"""unified-cli: an OpenAI-compatible server in front of `codex exec`, which it serves where a variable allows that."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

from play import main
from proxy import proxy

_ALLOWED = {"UNIFIED_CLI_SERVER_ALLOW_AGENTIC_PROVIDERS": "1"}

if __name__ == "__main__":
    main(proxy(lambda port: ("unified-cli", "serve", "--port", str(port)), "/v1", "CODEX_CLI_PATH", _ALLOWED))
