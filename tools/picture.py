"""Make the picture of an HTML report in `docs/images/`: of a real run against a miniature, as Chromium shows it.

    python tools/picture.py [DIR]

DIR is a saved result; without one, the reference proxy with the fault `finish-twice` is certified first.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "docs" / "images" / "report.png"
NAMES = ("chromium", "chromium-browser", "google-chrome")
"""What the program is called by those who package it."""
MINIATURE = shlex.join([sys.executable, "-m", "wireproof_mocks.miniatures", "finish-twice"])
WIREPROOF = (sys.executable, "-m", "wireproof")
SIZE = "960,720"
"""Pixels: about what a screen of a laptop shows, in a file of less than 100 kB."""


def main(arguments: list[str]) -> int:
    """Write the picture."""
    chromium = next(filter(None, map(shutil.which, NAMES)), None)
    if chromium is None:
        sys.exit(f"Chromium is not installed ({', '.join(NAMES)}); on Debian: apt-get install chromium")
    with tempfile.TemporaryDirectory() as scratch:
        result, page = Path(arguments[0]) if arguments else Path(scratch, "result"), Path(scratch, "report.html")
        if not arguments:
            # Not certified, and that is the point.
            subprocess.run([*WIREPROOF, "certify", "--launch", MINIATURE, "--output", result], check=False)
        with page.open("wb") as file:
            subprocess.run([*WIREPROOF, "report", result, "--format", "html"], stdout=file, check=False)
        FILE.parent.mkdir(exist_ok=True)
        shot = ("--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={SIZE}", f"--screenshot={FILE}")
        if not page.stat().st_size:
            sys.exit(f"{result} has no page")
        # It complains of services that a container does not have.
        subprocess.run([chromium, *shot, page.as_uri()], check=True, capture_output=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
