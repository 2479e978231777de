"""The scratch folder cannot be left, by any path, link or kind of file."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wireproof_proxy.backends.cursor.scratch import FolderEntry, NoFileError, OutsideError, Scratch

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET = b"not for the model"
NAMES = ("in.txt", "sub", "deep.txt", "out", "up", "self", "file-link", "pipe", "secret.txt", "..", ".", "", "scratch")


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a secret, and the scratch folder in it, which is full of ways out."""
    folder = tmp_path_factory.mktemp("outside").resolve()
    (folder / "secret.txt").write_bytes(SECRET)
    inside = folder / "scratch"
    (inside / "sub").mkdir(parents=True)
    (inside / "in.txt").write_bytes(b"inside")
    (inside / "sub" / "deep.txt").write_bytes(b"deep")
    (inside / "out").symlink_to(folder)
    (inside / "sub" / "up").symlink_to("../..")
    (inside / "self").symlink_to("/proc/self/root")
    (inside / "file-link").symlink_to(folder / "secret.txt")
    os.mkfifo(inside / "pipe")
    return folder


@pytest.fixture
def scratch(outside: Path) -> Scratch:
    return Scratch(outside / "scratch")


def test_files_within_are_read(scratch: Scratch) -> None:
    assert scratch.read("in.txt", 100) == (b"inside", 6)
    assert scratch.read("./sub//deep.txt", 2) == (b"de", 4)
    assert scratch.read(f"{scratch.folder}/sub/deep.txt", 100) == (b"deep", 4)


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/passwd", "sub/../../secret.txt", "..", "a\0b", "/"])
def test_a_path_that_leads_out_is_refused(scratch: Scratch, path: str) -> None:
    for use in (lambda: scratch.read(path, 9), lambda: scratch.write(path, b""), lambda: scratch.entries(path)):
        with pytest.raises(OutsideError):
            use()


def test_a_folder_whose_name_begins_alike_is_outside(scratch: Scratch) -> None:
    with pytest.raises(OutsideError):
        scratch.read(f"{scratch.folder}-2/x", 9)


@pytest.mark.parametrize("path", ["out/secret.txt", "sub/up/secret.txt", "file-link", "self/etc/passwd", "pipe", "sub"])
def test_what_is_no_file_of_the_folder_is_not_read(scratch: Scratch, path: str) -> None:
    with pytest.raises(OSError):  # noqa: PT011 (of several kinds)
        scratch.read(path, 100)
    with pytest.raises(OSError):  # noqa: PT011
        scratch.write(path, b"changed")


def test_a_pipe_is_no_file(scratch: Scratch) -> None:
    with pytest.raises(NoFileError):
        scratch.read("pipe", 9)
    with pytest.raises(NoFileError):
        scratch.read("", 9)


def test_only_folders_and_files_are_listed(scratch: Scratch) -> None:
    assert scratch.entries("") == [FolderEntry("in.txt", is_folder=False), FolderEntry("sub", is_folder=True)]
    assert sorted(scratch.files("")) == ["in.txt", "sub/deep.txt"]
    with pytest.raises(OSError):  # noqa: PT011
        list(scratch.files("nowhere"))


def ways() -> st.SearchStrategy[str]:
    """Paths made of what is there, of ways up, and of the absolute paths of both folders."""
    steps = st.lists(st.sampled_from(NAMES), max_size=6).map("/".join)
    return st.tuples(st.sampled_from(["", "/", "{scratch}/", "{outside}/", "/proc/self/cwd/"]), steps).map("".join)


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(way=ways())
def test_no_path_reads_or_changes_what_is_outside(outside: Path, way: str) -> None:
    scratch = Scratch(outside / "scratch")
    path = way.format(scratch=scratch.folder, outside=outside)
    for found in _tries(scratch, path):
        assert SECRET not in found
    assert (outside / "secret.txt").read_bytes() == SECRET
    assert sorted(one.name for one in outside.iterdir()) == ["scratch", "secret.txt"]


def _tries(scratch: Scratch, path: str) -> Iterator[bytes]:
    """What each operation gives; b"" where it is refused."""
    try:
        yield scratch.read(path, 100)[0]
    except (OutsideError, OSError):
        yield b""
    try:
        yield repr(scratch.entries(path)).encode().replace(b"secret.txt", SECRET)
    except (OutsideError, OSError):
        yield b""
    try:
        yield repr(list(scratch.files(path))).encode().replace(b"secret.txt", SECRET)
    except (OutsideError, OSError):
        yield b""


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(way=ways())
def test_no_path_is_written_outside(outside: Path, tmp_path_factory: pytest.TempPathFactory, way: str) -> None:
    folder = tmp_path_factory.mktemp("writes").resolve()
    (folder / "secret.txt").write_bytes(SECRET)
    inside = folder / "scratch"
    inside.mkdir()
    (inside / "out").symlink_to(folder)
    (inside / "self").symlink_to("/proc/self/root")
    scratch = Scratch(inside)
    with contextlib.suppress(OutsideError, OSError):
        scratch.write(way.format(scratch=inside, outside=folder), b"written")
    assert (folder / "secret.txt").read_bytes() == SECRET
    assert sorted(one.name for one in folder.iterdir()) == ["scratch", "secret.txt"]
    assert sorted(one.name for one in outside.iterdir()) == ["scratch", "secret.txt"]


def test_folders_on_the_way_to_a_new_file_are_made(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path.resolve())
    scratch.write("a/b/c.txt", b"one")
    scratch.write("a/b/c.txt", b"2")
    assert (tmp_path / "a" / "b" / "c.txt").read_bytes() == b"2"


def test_no_descriptor_is_left_open(scratch: Scratch) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for path in ("in.txt", "out/secret.txt", "sub/up/x", "nowhere/x", "pipe"):
        list(_tries(scratch, path))
    assert len(list(Path("/proc/self/fd").iterdir())) == before
