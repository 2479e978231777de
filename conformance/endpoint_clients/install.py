"""Installs the clients beside this Python, in `<sys.prefix>/endpoint_clients`, as the gateways are."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import runpy
from pathlib import Path

HERE = Path(__file__).resolve().parent

if __name__ == "__main__":
    runpy.run_path(str(HERE.parent / "gateways" / "install.py"))["install"](HERE)
