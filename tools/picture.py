"""Make the picture of an HTML report in `docs/images/`: of a real run against a miniature, as Chromium shows it.

    python tools/picture.py [DIR]

DIR is a saved result; without one, the reference proxy with the fault `finish-twice` is certified first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "docs" / "images" / "report.png"
NAMES = ("chromium", "chromium-browser", "google-chrome")
"""What the program is called by those who package it."""
MINIATURE = "python -m wireproof_mocks.miniatures finish-twice"
"""As a person writes it, since the picture shows it: no path of the machine on which it was made."""
ENVIRONMENT = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
"""In which `python` is the one that runs this."""
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
            certify = [*WIREPROOF, "certify", "--launch", MINIATURE, "--output", str(result)]
            subprocess.run(certify, env=ENVIRONMENT, check=False)
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
