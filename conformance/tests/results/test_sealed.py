"""A certificate as a file: the same bytes for the same result, and no change of it goes unseen."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from saved_recordings import save

from wireproof.results import sealed
from wireproof.results.folder import REPORT, TRANSCRIPTS
from wireproof.results.sealed import HEAD, MEMBERS, SealedError, opened

if TYPE_CHECKING:
    from pathlib import Path

SCENARIOS = {"text-hello": "0" * 64}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("certificate")
    return made(path)


def made(path: Path) -> bytes:
    report = save("stubllm", path)
    return sealed.sealed(report, (path / TRANSCRIPTS).read_bytes(), rows="1" * 64, scenarios=SCENARIOS)


def rezipped(members: dict[str, bytes], *, how: int = zipfile.ZIP_STORED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return data.getvalue()


def members(file: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def said_of(file: bytes) -> str:
    with pytest.raises(SealedError) as refused:
        opened(file)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_it_holds_what_it_was_made_of(file: bytes, tmp_path: Path) -> None:
    there = opened(file)
    assert there.report == save("stubllm", tmp_path)
    assert there.transcripts == (tmp_path / TRANSCRIPTS).read_bytes()
    assert (there.rows, there.scenarios) == ("1" * 64, SCENARIOS)


def test_the_same_result_gives_the_same_bytes(file: bytes, tmp_path: Path) -> None:
    assert made(tmp_path) == file
    assert tuple(members(file)) == MEMBERS


def test_its_head_says_what_was_certified(file: bytes) -> None:
    head = json.loads(members(file)[HEAD])
    report = json.loads(members(file)[REPORT])
    assert head["target"] == report["target"]
    assert head["configuration"] == report["configuration"]
    assert head["edition"]["date"] == report["catalogue"]["date"]
    assert head["verdicts"] == {name: one["summary"] for name, one in report["levels"].items()}
    assert head["members"][TRANSCRIPTS]["sha256"] == hashlib.sha256(members(file)[TRANSCRIPTS]).hexdigest()


@given(st.data())
def test_a_byte_that_was_changed_anywhere_is_found(file: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(file) - 1))
    other = data.draw(st.integers(1, 255))
    changed = bytearray(file)
    changed[at] ^= other
    said_of(bytes(changed))


@pytest.mark.parametrize("part", [0.0, 0.001, 0.3, 0.9, 0.9999])
def test_a_file_that_was_cut_is_found(file: bytes, part: float) -> None:
    said_of(file[: int(len(file) * part)])


@pytest.mark.parametrize("more", [b"\x00", b"more", b"PK\x05\x06" + bytes(18)], ids=["zero", "text", "end"])
def test_a_file_with_more_behind_it_is_found(file: bytes, more: bytes) -> None:
    said_of(file + more)
    said_of(more + file)


@pytest.mark.parametrize("name", MEMBERS)
def test_each_byte_of_a_member_counts_though_the_archive_is_whole(file: bytes, name: str) -> None:
    there = members(file)
    step = max(len(there[name]) // 40, 1)
    for at in range(0, len(there[name]), step):
        changed = bytearray(there[name])
        changed[at] ^= 1
        assert said_of(rezipped({**there, name: bytes(changed)})).startswith("it was changed")


@pytest.mark.parametrize("name", MEMBERS)
def test_a_member_that_is_missing_is_named(file: bytes, name: str) -> None:
    left = {other: data for other, data in members(file).items() if other != name}
    assert said_of(rezipped(left)) == f"it is not a certificate: it has no {name}"


@pytest.mark.parametrize(
    "name",
    ["../../etc/cron.d/x", "/etc/passwd", "C:\\x", "more.json", "a\x1b[31m"],
    ids=["up", "root", "drive", "more", "escape"],
)
def test_another_member_is_refused_and_nothing_is_written(
    file: bytes, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = said_of(rezipped({**members(file), name: b"x"}))
    assert "which is no member of one" in said
    assert "\x1b" not in said
    assert list(tmp_path.iterdir()) == []


def test_a_member_that_stands_twice_is_refused(file: bytes) -> None:
    data = io.BytesIO(file)
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(data, "a") as archive:
        archive.writestr(REPORT, b"{}")
    assert "a member twice" in said_of(data.getvalue())


def test_a_bomb_is_refused_before_it_is_unpacked(file: bytes) -> None:
    there = members(file)
    bomb = rezipped({**there, REPORT: b" " * 30_000_000}, how=zipfile.ZIP_DEFLATED)
    assert len(bomb) < len(file) + 2_000_000
    assert "members are stored as they are" in said_of(bomb)


def test_a_size_that_lies_is_found(file: bytes) -> None:
    at = file.rindex(b"PK\x01\x02")
    lying = bytearray(file)
    struct.pack_into("<II", lying, at + 20, 0xFFFFFF00, 0xFFFFFF00)
    said_of(bytes(lying))


def test_a_newer_form_is_named(file: bytes) -> None:
    there = members(file)
    newer = json.dumps({**json.loads(there[HEAD]), "format": 2}).encode()
    assert said_of(rezipped({**there, HEAD: newer})) == (
        "it is in format 2, which a newer Wireproof writes; this one reads format 1"
    )


@pytest.mark.parametrize(
    "head",
    [b"", b"[]", b"[" * 100_000, b'{"format": 1}', b'{"format": "x"}', b"\xff"],
    ids=["nothing", "list", "deep", "bare", "word", "bytes"],
)
def test_a_head_that_is_none_is_refused(file: bytes, head: bytes) -> None:
    assert said_of(rezipped({**members(file), HEAD: head})).startswith("it was changed or is damaged: certificate.json")


@pytest.mark.parametrize(
    "data", [b"", b"PK", b"not an archive", b"\x00" * 5000], ids=["nothing", "two", "text", "zeros"]
)
def test_what_is_no_archive_is_refused(data: bytes) -> None:
    assert said_of(data).startswith("it is not a certificate, or was damaged: ")


def test_transcripts_of_another_run_do_not_fit(file: bytes, tmp_path: Path) -> None:
    save("mockllm", tmp_path)
    others = (tmp_path / TRANSCRIPTS).read_bytes()
    assert "does not speak of the report and the transcripts" in said_of(
        rezipped({**members(file), TRANSCRIPTS: others})
    )


def test_a_report_with_bytes_that_no_text_has_is_sealed(tmp_path: Path) -> None:
    report = replace(save("stubllm", tmp_path), reason="\udcff")
    there = opened(sealed.sealed(report, b"x", rows="", scenarios={}))
    assert there.report.reason == "\udcff"
