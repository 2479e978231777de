"""Installs the clients beside this Python, in `<sys.prefix>/endpoint_clients`, as all others are, and aider."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OLDER = ("3.12", "3.11", "3.10")


def older_python() -> str:
    """A Python that aider installs on: this one, one on the PATH, or one of pyenv's."""
    if f"{sys.version_info.major}.{sys.version_info.minor}" in OLDER:
        return sys.executable
    versions = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    found = (shutil.which(f"python{one}") or "" for one in OLDER)
    pyenvs = (str(path) for one in OLDER for path in versions.glob(f"{one}.*/bin/python"))
    python = next(filter(_runs, (*found, *pyenvs)), None)
    if python is None:
        raise SystemExit(f"aider needs Python {', '.join(OLDER)}, and none is on the PATH or in {versions}")
    return python


def _runs(python: str) -> bool:
    # A shim of pyenv is on the PATH for versions that are not chosen, too.
    return bool(python) and subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    installing = runpy.run_path(str(HERE.parent / "clients" / "install.py"))
    installing["install"](HERE)
    # It asks for older releases of what the others need, too.
    aider = Path(sys.prefix) / HERE.name / "aider"
    installing["in_venv"](HERE / "aider.txt", aider, older_python())
