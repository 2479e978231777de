"""Installs what a folder's npm lock file names beside this Python, in `<sys.prefix>/<name of the folder>`."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

NODE = 20
"""The oldest major version of Node.js that all of them run on."""


def install(folder: Path) -> None:
    """Install, unless that has been done with this very lock file; exit with a message when it cannot be done."""
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
