from __future__ import annotations

import tomllib
from pathlib import Path

import httpx
import pytest

from assay.launch import executable
from assay.real_codex import real_codex
from assay.target import Lack
from assay.verdict import HarnessError

MOCK = Path(executable("assay-codex"))


def codex_that_says(folder: Path, words: str) -> Path:
    program = folder / "codex"
    program.write_text(f"#!/bin/sh\necho '{words}'\n")
    program.chmod(0o700)
    return program


def test_a_codex_is_given_a_home_in_which_it_asks_the_scripts() -> None:
    with real_codex(MOCK) as codex:
        assert codex.env["CODEX_BIN"] == str(MOCK)
        assert codex.env["HOME"] == codex.env["CODEX_HOME"]
        config = tomllib.loads(Path(codex.env["CODEX_HOME"], "config.toml").read_text())
        url = config["model_providers"]["assay"]["base_url"]
        assert config["model_provider"] == "assay"
        asked = {"model": "m", "stream": True, "input": []}
        assert "Assay's mock backend" in httpx.post(f"{url}/responses", json=asked).text
    assert not Path(codex.env["CODEX_HOME"]).exists()


@pytest.mark.parametrize(
    ("version", "lacks", "feature"),
    [
        ("0.169.0", frozenset(), "plugins"),
        ("1.0.0", frozenset(), "plugins"),
        ("0.89.0", frozenset(Lack), "remote_models"),
    ],
)
def test_what_it_lacks_its_version_tells(tmp_path: Path, version: str, lacks: frozenset[Lack], feature: str) -> None:
    with real_codex(codex_that_says(tmp_path, f"codex-cli {version}")) as codex:
        assert codex.lacks == lacks
        config = tomllib.loads(Path(codex.env["CODEX_HOME"], "config.toml").read_text())
    assert config["features"][feature] is False


def test_what_is_no_codex_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="is no Codex: to --version it says 'node v20'"):
        real_codex(codex_that_says(tmp_path, "node v20")).__enter__()
    with pytest.raises(HarnessError, match="cannot be run"):
        real_codex(tmp_path / "nowhere").__enter__()
