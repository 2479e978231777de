"""What others put into their CI: the action, the snippet for GitLab and the workflow of the matrix do as they say.

Their steps are read from the files and run by bash, with the variables that a runner sets; Wireproof is this
checkout's, in the place of what pip would install.
"""

from __future__ import annotations

import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from saved_recordings import save

from wireproof.results import folder

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
GITLAB = yaml.safe_load((ROOT / "examples" / "gitlab.yml").read_text(encoding="utf-8"))
MATRIX = yaml.safe_load((ROOT / ".github" / "workflows" / "matrix.yml").read_text(encoding="utf-8"))
EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "name" in step}
FEW = "--only text-hello"
MINIATURE = shlex.join([sys.executable, "-m", "wireproof_mocks.miniatures", "id-per-chunk"])


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with its expressions, each of which must have a value."""
    return EXPRESSION.sub(lambda found: values[found[1]], text)


def run(script: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script as a runner does."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("WIREPROOF", "GITHUB"))}
    # So that `python` and `wireproof` are those of this checkout.
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(words, cwd=cwd, env={**env, **variables}, capture_output=True, text=True, check=False)


def act(tmp_path: Path, **given: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """Run the step of the action that certifies; returns what came, and its outputs."""
    inputs = {f"inputs.{name}": str(one["default"]) for name, one in ACTION["inputs"].items()}
    inputs |= {f"inputs.{name.replace('_', '-')}": value for name, value in given.items()}
    step = STEPS["Certify"]
    env = {name: filled(value, inputs) for name, value in step["env"].items()}
    installed = tmp_path / "wireproof" / "bin"
    installed.mkdir(parents=True)
    (installed / "wireproof").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m wireproof "$@"\n')
    (installed / "wireproof").chmod(0o755)
    runner = {
        "RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(tmp_path / "outputs"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }  # fmt: skip
    done = run(step["run"], tmp_path, **env, **runner)
    lines = (tmp_path / "outputs").read_text().splitlines()
    return done, dict(line.split("=", 1) for line in lines)


def test_every_input_is_read_and_every_expression_is_one(tmp_path: Path) -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    used = set(EXPRESSION.findall(text))
    assert {name for name in used if name.startswith("inputs.")} == {f"inputs.{name}" for name in ACTION["inputs"]}
    assert used - {f"inputs.{name}" for name in ACTION["inputs"]} == {
        "steps.certify.outputs.status", "steps.certify.outputs.result",
    }  # fmt: skip
    # An expression inside a script would be run with whatever stands in the input.
    assert not [step for step in ACTION["runs"]["steps"] if EXPRESSION.search(step.get("run", ""))]
    assert all(step["shell"] == "bash" for step in ACTION["runs"]["steps"] if "run" in step)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.nightly
def test_the_action_installs_what_it_is_given(tmp_path: Path) -> None:
    """A package without dependencies, in the place of a wheel."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "pyproject.toml").write_text(
        '[project]\nname = "stand-in"\nversion = "1"\n[build-system]\nrequires = []\nbuild-backend = "backend"\n'
        'backend-path = ["."]\n'
    )
    (package / "backend.py").write_text(
        "import zipfile\n"
        "def build_wheel(folder, *_, **__):\n"
        "    with zipfile.ZipFile(f'{folder}/stand_in-1-py3-none-any.whl', 'w') as wheel:\n"
        "        wheel.writestr('stand_in.py', '')\n"
        "        head = 'stand_in-1.dist-info/'\n"
        "        wheel.writestr(head + 'METADATA', 'Metadata-Version: 2.1\\nName: stand-in\\nVersion: 1\\n')\n"
        "        wheel.writestr(head + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n"
        "        wheel.writestr(head + 'RECORD', '')\n"
        "    return 'stand_in-1-py3-none-any.whl'\n"
    )
    done = run(STEPS["Install Wireproof"]["run"], tmp_path, RUNNER_TEMP=str(tmp_path), PACKAGE=str(package))
    assert done.returncode == 0, done.stderr
    python = tmp_path / "wireproof" / "bin" / "python"
    assert subprocess.run([python, "-c", "import stand_in"], check=False).returncode == 0


@pytest.mark.nightly
def test_the_action_certifies_the_bundled_proxy(tmp_path: Path) -> None:
    done, outputs = act(tmp_path, options=FEW)
    assert done.returncode == 0, done.stderr
    assert outputs == {"status": "0", "result": "wireproof-result"}
    there = tmp_path / "wireproof-result"
    assert {path.name for path in there.iterdir()} >= {"result", "report.html", "report.xml", "badge.svg"}
    assert "<title>" in (there / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "summary").read_text().startswith("# http://127\\.0\\.0\\.1:".replace("\\.", "."))
    # A selection is no certificate, and that ends no job.
    assert not (there / "certificate.zip").exists()
    assert "so it cannot become a certificate: scenarios were selected" in done.stderr


@pytest.mark.nightly
def test_the_action_fails_with_the_proxy_and_keeps_its_report(tmp_path: Path) -> None:
    done, outputs = act(tmp_path, launch=MINIATURE, options=FEW)
    assert (done.returncode, outputs["status"]) == (1, "1")
    report = folder.read(tmp_path / "wireproof-result" / "result").report
    assert "chat.stream.stable-id" in {one.requirement for one in report.findings}
    assert "chat\\.stream" not in (tmp_path / "summary").read_text()
    assert "`chat.stream.stable-id`" in (tmp_path / "summary").read_text()


@pytest.mark.nightly
def test_the_action_accepts_known_failures_and_says_what_cannot_be(tmp_path: Path) -> None:
    known = tmp_path / "known.txt"
    known.write_text("text-hello:chat.stream.stable-id agreed\n")
    done, _ = act(tmp_path, launch=MINIATURE, options=FEW, known_failing=str(known))
    assert done.returncode == 0, done.stdout[-2000:]
    again = tmp_path / "again"
    again.mkdir()
    done, outputs = act(again, url="no address")
    assert (done.returncode, outputs["status"]) == (2, "2")


def test_what_stands_in_an_input_is_not_run(tmp_path: Path) -> None:
    options = """--model "$(touch pwned)" --header a=`touch pwned` --query 'b=;touch pwned'"""
    done, outputs = act(tmp_path, url="no address; touch pwned", options=options)
    assert (done.returncode, outputs["status"]) == (2, "2")
    assert not (tmp_path / "pwned").exists()


@pytest.mark.nightly
def test_the_snippet_for_gitlab_certifies_and_keeps_the_result(tmp_path: Path) -> None:
    job = GITLAB["wireproof"]
    venv = tmp_path / ".wireproof" / "bin"
    venv.mkdir(parents=True)
    (venv / "wireproof").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m wireproof "$@"\n')
    (venv / "wireproof").chmod(0o755)
    lines = [line for line in job["script"] if "pip install" not in line and "-m venv" not in line]
    assert len(lines) == len(job["script"]) - 2
    options = f'--launch "{MINIATURE}" {FEW}'
    done = run("\n".join(lines), tmp_path, WIREPROOF_OPTIONS=options)
    assert done.returncode == 1, done.stderr
    assert "id-per-chunk" in folder.read(tmp_path / "wireproof-result" / "result").report.configuration.command
    assert (tmp_path / job["artifacts"]["reports"]["junit"]).read_text(encoding="utf-8").startswith("<?xml")
    assert job["artifacts"]["when"] == "always"
    assert set(job["variables"]) == {"WIREPROOF_PACKAGE", "WIREPROOF_OPTIONS"}


# The matrix.


def slices() -> list[str]:
    return [name for one in MATRIX["jobs"]["certify"]["strategy"]["matrix"]["include"] for name in one["names"].split()]


def test_the_slices_are_what_the_matrix_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "conformance" / "matrix")
    certify = importlib.import_module("certify")
    assert sorted(slices()) == sorted(certify.CHOICES)
    assert len(set(slices())) == len(slices()) >= 9
    assert certify.LEFT_OUT.keys() <= certify.ENDPOINTS.keys()


def steps_of(job: str) -> dict[str, Any]:
    return {step["name"]: step for step in MATRIX["jobs"][job]["steps"] if "name" in step}


@pytest.mark.nightly
def test_the_merge_makes_a_site_of_what_the_slices_leave(tmp_path: Path) -> None:
    save("stubllm", tmp_path / "results" / "reference@0.1.0")
    save("llmock", tmp_path / "results" / "llmock@0.2.2")
    save("mockllm", tmp_path / "examples" / "a-fault")
    done = run(steps_of("site")["Merge"]["run"], tmp_path)
    assert done.returncode == 0, done.stderr
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert index.count('<th scope="row">') == 2
    upload, download = MATRIX["jobs"]["certify"]["steps"][-1], MATRIX["jobs"]["site"]["steps"][3]
    assert download["with"]["pattern"] == upload["with"]["name"].replace("${{ matrix.slice }}", "*")
    assert set(upload["with"]["path"].split()) == {"results", "examples"}
    assert MATRIX["jobs"]["site"]["needs"] == "certify"


@pytest.mark.nightly
def test_a_slice_certifies_what_it_names(tmp_path: Path) -> None:
    for copied in ("conformance", "tools"):
        shutil.copytree(ROOT / copied, tmp_path / copied, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    done = run(steps_of("certify")["Certify"]["run"], tmp_path, NAMES="reference")
    assert done.returncode == 0, done.stderr
    (result,) = (tmp_path / "results").iterdir()
    assert folder.read(result).report.status == 0
