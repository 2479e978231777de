"""Installs what a folder names beside this Python, in `<sys.prefix>/<name of the folder>`.

That is what its npm lock file names, and each of its lists for PyPI, `requirements*.txt`, in a venv there.
"""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

NODE = 20
"""The oldest major version of Node.js that all of them run on."""


def install(folder: Path) -> None:
    """Install, unless that has been done with these very lists; exit with a message when it cannot be done."""
    from_npm(folder)
    # Venvs of their own: what is installed is not to choose the versions that Wireproof or another one runs with.
    for wanted in sorted(folder.glob("requirements*.txt")):
        in_venv(wanted, Path(sys.prefix) / folder.name / wanted.stem.replace("requirements", "python"))


def from_npm(folder: Path) -> None:
    """Install what a lock file names, unless that has been done."""
    _need_node()
    npm = shutil.which("npm") or _fail("npm is not installed")
    installed = Path(sys.prefix) / folder.name
    installed.mkdir(exist_ok=True)
    done = installed / "installed-lock.json"
    lock = folder / "package-lock.json"
    if done.exists() and done.read_bytes() == lock.read_bytes():
        return
    for file in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(folder / file, installed)
    if subprocess.run([npm, "ci"], cwd=installed, check=False).returncode:
        _fail("npm ci failed, see above")
    shutil.copy(lock, done)


def in_venv(wanted: Path, home: Path, python: str = sys.executable) -> None:
    """Install a list of requirements into a venv of this Python, unless that has been done."""
    done = home / "installed-requirements.txt"
    if done.exists() and done.read_bytes() == wanted.read_bytes():
        return
    subprocess.run([python, "-m", "venv", "--clear", home], check=True)
    subprocess.run([home / "bin" / "python", "-m", "pip", "install", "-q", "-r", wanted], check=True)
    shutil.copy(wanted, done)


def _need_node() -> None:
    node = shutil.which("node") or _fail(f"Node.js is not installed: version {NODE} or newer is needed")
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    major = said.removeprefix("v").partition(".")[0]
    if not major.isdigit() or int(major) < NODE:
        _fail(f"Node.js {NODE} or newer is needed; {node} is {said or 'none that tells its version'}")


def _fail(why: str) -> str:
    sys.exit(f"the packages cannot be installed: {why}")


if __name__ == "__main__":
    install(Path(sys.argv[1]).resolve())
