from __future__ import annotations

import asyncio
import os
import tempfile
from typing import TYPE_CHECKING

import pytest

from assay.driving import sharing
from assay.driving.sharing import turns

if TYPE_CHECKING:
    from pathlib import Path

HERE, THERE = "http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


async def play(first: str, second: str, other: str = HERE) -> list[str]:
    """What happens in which order where one run holds the lock in a way, and another one wants it in a way."""
    said, held = list[str](), asyncio.Event()

    async def one() -> None:
        with turns(HERE) as shared:
            async with getattr(shared, first)():
                held.set()
                for _ in range(20):
                    await asyncio.sleep(0.01)
                said.append("the first ends")

    async def two() -> None:
        await held.wait()
        with turns(other) as shared:
            async with getattr(shared, second)():
                said.append("the second begins")

    await asyncio.gather(one(), two())
    return said


@pytest.mark.parametrize(
    ("first", "second", "waits"),
    [
        ("together", "together", False),
        ("together", "alone", True),
        ("alone", "together", True),
        ("alone", "alone", True),
    ],
)
def test_what_kills_a_backend_waits_for_others_and_they_for_it(first: str, second: str, *, waits: bool) -> None:
    said = asyncio.run(play(first, second))
    assert said == (["the first ends", "the second begins"] if waits else ["the second begins", "the first ends"])


def test_targets_do_not_wait_for_each_other() -> None:
    assert asyncio.run(play("alone", "alone", THERE)) == ["the second begins", "the first ends"]


def test_localhost_is_this_machine() -> None:
    said = asyncio.run(play("alone", "alone", HERE.replace("127.0.0.1", "localhost")))
    assert said == ["the first ends", "the second begins"]


def test_who_waits_too_long_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "LONGEST", 0.05)
    monkeypatch.setattr(sharing, "LOOK", 0.01)
    assert asyncio.run(play("alone", "alone")) == ["the second begins", "the first ends"]


def test_a_link_of_somebody_else_is_not_followed(folder: Path) -> None:
    with turns(HERE):
        (file,) = folder.iterdir()
    file.unlink()
    target = folder / "elsewhere"
    os.symlink(target, file)  # noqa: PTH211 (as the attack would)
    with turns(HERE) as shared:
        assert shared.file is None
    assert not target.exists()
