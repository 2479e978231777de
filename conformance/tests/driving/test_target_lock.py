from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

from wireproof.driving import target_lock
from wireproof.driving.target_lock import TargetLock, locked

if TYPE_CHECKING:
    from pathlib import Path

HERE, THERE = "http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def files(folder: Path) -> list[Path]:
    """What runs have left there."""
    return list(folder.iterdir())


async def play(first: str, second: str, other: str = HERE) -> list[str]:
    """What happens in which order where one run holds the lock in a way, and another one wants it in a way."""
    said, held = list[str](), asyncio.Event()

    async def one() -> None:
        with locked(HERE) as shared:
            async with getattr(shared, first)():
                held.set()
                for _ in range(20):
                    await asyncio.sleep(0.01)
                said.append("the first ends")

    async def two() -> None:
        await held.wait()
        with locked(other) as shared:
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
    monkeypatch.setattr(target_lock, "LONGEST", 0.05)
    monkeypatch.setattr(target_lock, "LOOK", 0.01)
    assert asyncio.run(play("alone", "alone")) == ["the second begins", "the first ends"]


def test_a_link_of_somebody_else_is_not_followed(folder: Path) -> None:
    target = folder / "elsewhere"

    async def run() -> None:
        with locked(HERE) as shared:
            os.symlink(target, shared.path)  # noqa: PTH211 (as the attack would)
            async with shared.alone():
                assert shared.file is None

    asyncio.run(run())
    assert not target.exists()


@pytest.mark.parametrize("kind", ["together", "alone"])
def test_a_run_leaves_no_file(folder: Path, kind: str) -> None:
    async def run() -> list[Path]:
        with locked(HERE) as shared:
            async with getattr(shared, kind)():
                return files(folder)

    assert len(asyncio.run(run())) == 1
    assert not files(folder)


@pytest.mark.parametrize("kind", ["together", "alone"])
def test_the_file_is_there_as_long_as_any_run_holds_its_lock(folder: Path, kind: str) -> None:
    async def run() -> None:
        with locked(HERE) as other:
            with locked(HERE) as shared:
                async with shared.together():
                    pass
                # Both have had the file open; the first to leave is not the last.
                await other.together().__aenter__()
            assert files(folder) == [other.path]
            with locked(HERE) as third:
                waiting = asyncio.create_task(enter(third, kind))
                await asyncio.sleep(0)
                assert waiting.done() == (kind == "together")
                waiting.cancel()

    async def enter(shared: TargetLock, kind: str) -> None:
        async with getattr(shared, kind)():
            pass

    asyncio.run(run())
    assert not files(folder)


def test_who_holds_a_file_that_was_removed_takes_the_lock_of_the_next_one(folder: Path) -> None:
    said = list[str]()

    async def run() -> None:
        with locked(HERE) as first, locked(HERE) as other:
            async with first.together():
                pass
            with locked(HERE) as third:
                async with third.together():
                    pass
            # The third has removed the file that the first has open, between two of its turns.
            assert not files(folder)
            async with other.alone():
                trying = asyncio.create_task(take(first))
                await asyncio.sleep(3 * target_lock.LOOK)
                said.append("the other ends")
            await trying

    async def take(shared: TargetLock) -> None:
        async with shared.together():
            said.append("the first begins")

    asyncio.run(run())
    assert said == ["the other ends", "the first begins"]
    assert not files(folder)


def test_runs_that_come_and_go_are_never_alone_together(folder: Path) -> None:
    """Processes, since threads of one would share nothing else than processes do; each counts up alone."""
    counter = folder / "counter"
    counter.write_text("0")
    words = [sys.executable, "-c", COUNTING, str(folder), str(counter)]
    processes = [subprocess.Popen(words) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0] * 4
    assert counter.read_text() == "200"
    assert files(folder) == [counter]


COUNTING = """
import asyncio, sys, tempfile
from pathlib import Path
from wireproof.driving import target_lock

tempfile.tempdir, counter, target_lock.LOOK = sys.argv[1], Path(sys.argv[2]), 0.0001

async def count():
    for _ in range(50):
        with target_lock.locked("http://127.0.0.1:1/v1") as shared:
            async with shared.alone():
                found = int(counter.read_text())
                await asyncio.sleep(0)
                counter.write_text(str(found + 1))

asyncio.run(count())
"""
