from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from wireproof.model.target import Missing
from wireproof.model.verdict import HarnessError
from wireproof.targets.codex import IN_V1, MISSING, UNPLAYED, missing_in, missing_in_mock, version_of
from wireproof.targets.launch import executable

if TYPE_CHECKING:
    from pathlib import Path


def codex_that_says(folder: Path, words: str) -> Path:
    program = folder / "codex"
    program.write_bytes(os.fsencode(f"#!/bin/sh\necho '{words}'\n"))
    program.chmod(0o700)
    return program


OF_NO_VERSION = {Missing.ROLES, Missing.SETTINGS, Missing.TEXT_BESIDE_CALLS, Missing.SPELLING}
"""What a protocol lacks, a login's service, or an upstream."""


def test_every_lack_is_of_some_versions() -> None:
    assert set(MISSING) == set(Missing) - OF_NO_VERSION
    assert set(Missing) > UNPLAYED


@pytest.mark.parametrize(
    ("version", "lacking"),
    [
        ((0, 89), {Missing.TOOLS, Missing.REASONS, Missing.COUNTS, Missing.HANGUPS}),
        ((0, 92), {Missing.HISTORY, Missing.REASONS, Missing.COUNTS, Missing.HANGUPS}),
        ((0, 114), {Missing.HISTORY, Missing.COUNTS, Missing.HANGUPS}),
        ((0, 125), {Missing.COUNTS, Missing.HANGUPS}),
        ((0, 142), {Missing.COUNTS, Missing.ENDS, Missing.HANGUPS}),
        ((0, 169), set()),
        ((1, 0), set()),
    ],
)
def test_what_a_version_lacks(version: tuple[int, int], lacking: set[Missing]) -> None:
    assert missing_in(version) == lacking


def test_a_codex_says_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIREPROOF_CODEX_VERSION", "0.142.5")
    assert version_of(executable("wireproof-codex")) == (0, 142)
    assert version_of(codex_that_says(tmp_path, "codex-cli 1.2.3")) == (1, 2)


def test_what_is_no_codex_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="is no Codex: for --version it prints 'node v20'"):
        version_of(codex_that_says(tmp_path, "node v20"))
    with pytest.raises(HarnessError, match="is no Codex: for --version it prints 'caf\ufffd'"):
        version_of(codex_that_says(tmp_path, os.fsdecode(b"caf\xe9")))
    with pytest.raises(HarnessError, match="cannot be run"):
        version_of(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("said", "missing"),
    [
        ('{"codex": "0.169.0", "protocol": "v2"}', frozenset()),
        ('{"codex": "0.114.0", "protocol": "v2"}', {Missing.HISTORY, Missing.COUNTS}),
        ('{"codex": "0.107.0", "protocol": "v1"}', {*IN_V1, Missing.COUNTS}),
        ('{"codex": "0.89.0", "protocol": "v1"}', {*IN_V1, Missing.COUNTS, Missing.REASONS}),
        # What no mock of this suite writes says nothing of it.
        ("Wireproof: the scripted backend is here.", None),
        ('{"codex": "newest", "protocol": "v2"}', None),
        ("[]", None),
        ("", None),
    ],
)
def test_what_the_mock_lacks_by_its_own_report(said: str, missing: set[Missing] | None) -> None:
    assert missing_in_mock(said) == missing
