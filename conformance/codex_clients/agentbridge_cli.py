"""agentbridge-cli: an OpenAI-compatible server in front of `codex exec`."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

from play import main
from proxy import proxy

if __name__ == "__main__":
    main(proxy(lambda port: ("agentbridge", "--port", str(port)), "/api/v1", "CODEX_BIN"))
