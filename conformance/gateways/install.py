"""Installs what a folder names beside this Python, in `<sys.prefix>/FOLDER`; each list of PyPI in a venv there."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import runpy
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def install(folder: Path = HERE) -> None:
    """Install, unless that has been done with these very lists."""
    runpy.run_path(str(HERE.parent / "clients" / "install.py"))["install"](folder)
    # Venvs of their own: what a gateway needs is not to choose the versions that Wireproof or another one runs with.
    for wanted in sorted(folder.glob("requirements*.txt")):
        in_venv(wanted, Path(sys.prefix) / folder.name / wanted.stem.replace("requirements", "python"))


def in_venv(wanted: Path, home: Path, python: str = sys.executable) -> None:
    """Install a list of requirements into a venv of this Python, unless that has been done."""
    done = home / "installed-requirements.txt"
    if done.exists() and done.read_bytes() == wanted.read_bytes():
        return
    subprocess.run([python, "-m", "venv", "--clear", home], check=True)
    subprocess.run([home / "bin" / "python", "-m", "pip", "install", "-q", "-r", wanted], check=True)
    shutil.copy(wanted, done)


if __name__ == "__main__":
    install()
