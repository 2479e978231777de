"""Installs Debian's Chromium for the tests of this folder, where there is none."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")
"""What the program is called by those who package it."""


def found() -> str | None:
    """The path of a Chromium on this machine."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def install() -> None:
    """Install it; exit with a message when that cannot be done."""
    if found():
        return
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        sys.exit(f"Chromium is not installed ({', '.join(NAMES)}); as root, on Debian: apt-get install chromium")
    for words in (("update", "-q"), ("install", "-q", "-y", "--no-install-recommends", "chromium")):
        if subprocess.run(
            [apt, *words], env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, check=False
        ).returncode:
            sys.exit(f"apt-get {words[0]} failed, see above")
    if not found():
        sys.exit("the package chromium was installed, and no chromium is on the PATH")


if __name__ == "__main__":
    install()
