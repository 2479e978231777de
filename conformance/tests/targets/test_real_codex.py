from __future__ import annotations

import tomllib
from pathlib import Path

import httpx
import pytest

from wireproof.targets.codex import real_codex
from wireproof.targets.launch import executable

MOCK = Path(executable("wireproof-codex"))


def test_a_codex_is_given_a_home_in_which_it_asks_the_scripts() -> None:
    with real_codex(MOCK) as codex:
        assert codex.env["CODEX_BIN"] == str(MOCK)
        assert codex.env["HOME"] == codex.env["CODEX_HOME"]
        config = tomllib.loads(Path(codex.env["CODEX_HOME"], "config.toml").read_text())
        url = config["model_providers"]["wireproof"]["base_url"]
        assert config["model_provider"] == "wireproof"
        asked = {"model": "m", "stream": True, "input": []}
        assert "Wireproof's mock backend" in httpx.post(f"{url}/responses", json=asked).text
    assert not Path(codex.env["CODEX_HOME"]).exists()


@pytest.mark.parametrize(
    ("version", "lacking", "feature"),
    [("0.169.0", False, "plugins"), ("0.98.0", True, "plugins"), ("0.89.0", True, "remote_models")],
)
def test_its_version_says_what_it_lacks_and_how_it_is_furnished(
    monkeypatch: pytest.MonkeyPatch, version: str, *, lacking: bool, feature: str
) -> None:
    monkeypatch.setenv("WIREPROOF_CODEX_VERSION", version)
    with real_codex(MOCK) as codex:
        assert bool(codex.missing) is lacking
        config = tomllib.loads(Path(codex.env["CODEX_HOME"], "config.toml").read_text())
    assert config["features"][feature] is False
