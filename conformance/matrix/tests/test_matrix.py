"""The public matrix: every endpoint is certified, and then the site of all of them is made.

Endpoints are certified in parallel (xdist); the site needs them all, so it is made by a command of its own:

    python -m pytest -n 2 conformance/matrix -k "not site" && python -m pytest conformance/matrix -k site
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.model.catalogue import load
from wireproof.results import folder
from wireproof.results.document import Ended

if TYPE_CHECKING:
    from types import ModuleType

SCRIPT = Path(__file__).parents[1] / "certify.py"
SITE = Path(sys.prefix) / "matrix" / "site"
EXAMPLES = (("kept", "Kept"), ("broken", "Broken"))
"""How the heading of an example begins; with nothing behind it where there is none."""
WITHOUT_EXAMPLE = 20
"""Requirements at most that no run shows broken: those of whole targets, of proxies in front of Cursor, of time."""


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("matrix_certify", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CERTIFY: Any = script()
CLIENTS = {CERTIFY.CLIENT, *(f"{CERTIFY.CLIENT}-{name}" for name in CERTIFY.CLIENT_FAULTS)}


@pytest.mark.parametrize("name", CERTIFY.NAMES)
def test_an_endpoint_is_certified(name: str) -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), name], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    results = list(CERTIFY.RESULTS.glob(f"{name}@*"))
    assert len(results) == 1
    report = folder.read(results[0]).report
    assert report.ended is Ended.COMPLETE
    assert report.configuration.selection == ()
    assert report.target is not None
    assert len(report.outcomes) > 100


def test_miniatures_are_driven() -> None:
    subprocess.run([sys.executable, str(SCRIPT), CERTIFY.MINIATURES], check=True)
    made = {one.name for one in CERTIFY.EXAMPLES.iterdir()} - CLIENTS
    assert made == {fault.name for fault in CERTIFY.shown()}


def test_clients_are_judged() -> None:
    subprocess.run([sys.executable, str(SCRIPT), CERTIFY.CLIENTS], check=True)
    broken = {
        name: {one.requirement for one in folder.read(CERTIFY.EXAMPLES / name).report.findings} for name in CLIENTS
    }
    faulty = {f"{CERTIFY.CLIENT}-{name}": {fault.breaks} for name, fault in CERTIFY.CLIENT_FAULTS.items()}
    assert broken == {CERTIFY.CLIENT: set(), **faulty}


def test_the_site_shows_them_all() -> None:
    results, examples = sorted(CERTIFY.RESULTS.iterdir()), sorted(CERTIFY.EXAMPLES.iterdir())
    reference = next(path for path in results if path.name.startswith("reference@"))
    words = ["--example", reference, *(word for path in examples for word in ("--example", path))]
    made = [sys.executable, "-m", "wireproof", "site", *results, "-o", SITE, *words]
    subprocess.run(list(map(str, made)), check=True)
    index = (SITE / "index.html").read_text(encoding="utf-8")
    shown = set(re.findall(r'<a href="proxies/([\w.-]+)\.html">', index))
    assert shown == set(CERTIFY.NAMES)
    assert len(shown) > 8
    pages = {row.id: _page(f"requirements/{row.id}.html") for row in load().requirements}
    unshown = {
        what: [row for row, page in pages.items() if f'"{what}">{title}</h3>' in page] for what, title in EXAMPLES
    }
    assert unshown["kept"] == [row for row in pages if row.startswith("agent.")]
    assert len(unshown["broken"]) < WITHOUT_EXAMPLE, unshown["broken"]


def _page(name: str) -> str:
    return (SITE / name).read_text(encoding="utf-8")
