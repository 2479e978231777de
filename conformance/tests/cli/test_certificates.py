"""`wireproof certificate write` and `wireproof verify`: what is written is verified, and what was forged is not."""

from __future__ import annotations

import dataclasses
import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from commands import refused, wireproof
from saved_recordings import CORPUS, save

from wireproof.cli import certificates
from wireproof.cli.saved import EVERY
from wireproof.model import editions
from wireproof.model.catalogue import load
from wireproof.model.requirement import Level
from wireproof.model.verdict import Verdict
from wireproof.report.verification import digests
from wireproof.results import sealed
from wireproof.results.archive import ArchiveError, of_bytes
from wireproof.results.certificate import ExitStatus
from wireproof.results.document import Ended, Summary
from wireproof.results.folder import REPORT, TRANSCRIPTS
from wireproof.results.sealed import opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wireproof.results.document import Report

pytestmark = pytest.mark.sampled(16)

OLD = CORPUS / "certificates"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "result"
    save("mockllm", path)
    return path


@pytest.fixture
def file(saved: Path, tmp_path: Path) -> Path:
    path = tmp_path / "certificate.zip"
    written = wireproof("certificate", "write", str(saved), "-o", str(path))
    assert (written.exit_code, written.stderr) == (0, "")
    return path


def test_a_certificate_is_verified(file: Path) -> None:
    result = wireproof("verify", str(file))
    assert (result.exit_code, result.stderr) == (ExitStatus.CERTIFIED, "")
    first, last = result.stdout.splitlines()
    assert "strict: not certified" in first
    assert f"edition {load().date}" in first
    assert last == "verified: its transcripts, judged again, give this verdict"


@pytest.mark.parametrize("path", sorted(OLD.glob("*.zip")), ids=lambda path: path.stem)
def test_an_old_certificate_is_still_verified(path: Path) -> None:
    """Whatever the suite has learned since: what came after its edition says nothing of it."""
    result = wireproof("verify", str(path))
    assert (result.exit_code, result.stderr) in {(ExitStatus.CERTIFIED, ""), (ExitStatus.PARTIAL, "")}, result.output


def test_there_is_an_old_certificate() -> None:
    assert list(OLD.glob("*.zip"))


# What is forged so that the hashes are right again.


def forged(file: Path, **changes: Any) -> None:
    there = opened(file.read_bytes())
    report = dataclasses.replace(there.report, **changes)
    file.write_bytes(sealed.sealed(report, there.transcripts, rows=there.rows, scenarios=there.scenarios))


def not_verified(file: Path) -> str:
    result = wireproof("verify", str(file))
    assert (result.exit_code, result.stderr) == (ExitStatus.FAILED, "")
    assert "not verified" in result.stdout
    return result.stdout


def report_of(file: Path) -> Report:
    return opened(file.read_bytes()).report


def test_a_verdict_that_its_transcripts_do_not_give_is_named(file: Path) -> None:
    report = report_of(file)
    number, first = next((n, one) for n, one in enumerate(report.outcomes) if one.strict is Verdict.FAIL)
    better = dataclasses.replace(first, strict=Verdict.PASS, compat=Verdict.PASS, places=())
    forged(file, outcomes=(*report.outcomes[:number], better, *report.outcomes[number + 1 :]))
    said = not_verified(file)
    assert f"{first.scenario}:{first.requirement}: it says pass, and the transcripts give fail" in said


def test_a_sum_that_its_transcripts_do_not_give_is_named(file: Path) -> None:
    report = report_of(file)
    levels = {
        name: dataclasses.replace(one, summary=Summary.CERTIFIED, broken=()) for name, one in report.levels.items()
    }
    forged(file, levels=levels, status=0)
    said = not_verified(file)
    assert "strict: it says certified, and the transcripts give not certified" in said
    assert "its exit status is 0, and the transcripts give 1" in said


def test_outcomes_that_were_left_out_are_named(file: Path) -> None:
    forged(file, outcomes=report_of(file).outcomes[5:])
    assert "it says nothing, and the transcripts give" in not_verified(file)


def test_another_target_is_named(file: Path) -> None:
    target = report_of(file).target
    assert target is not None
    forged(file, target=dataclasses.replace(target, base_url="https://api.example.com/v1"))
    assert "its base_url is https://api.example.com/v1, and the transcripts are of http://127" in not_verified(file)


def test_a_table_of_scenarios_that_was_forged_leaves_them_unverified(file: Path) -> None:
    there = opened(file.read_bytes())
    file.write_bytes(sealed.sealed(there.report, there.transcripts, rows=there.rows, scenarios={}))
    result = wireproof("verify", str(file))
    assert result.exit_code == ExitStatus.PARTIAL
    assert "verified in part" in result.stdout


# What is no certificate, or none that can be judged here.


def test_what_cannot_be_read_is_one_line(file: Path, tmp_path: Path) -> None:
    assert "no such file" in refused("verify", str(tmp_path / "none.zip"))
    assert "is a directory" in refused("verify", str(tmp_path))
    changed = bytearray(file.read_bytes())
    changed[len(changed) // 2] ^= 1
    file.write_bytes(changed)
    assert f"wireproof: {file}: " in refused("verify", str(file))


def test_a_file_that_is_too_large_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "LARGEST", 1 << 10)
    assert "it has more than 0 MiB" in refused("verify", str(file))


def test_an_unknown_edition_is_named_with_those_that_are_known(file: Path) -> None:
    report = report_of(file)
    forged(file, catalogue=dataclasses.replace(report.catalogue, date="2031-05-05"))
    said = refused("verify", str(file))
    assert "unknown edition 2031-05-05; this version of Wireproof knows " in said
    assert editions.dates()[0] in said


def test_transcripts_that_unpack_to_a_bomb_are_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wireproof.results.archive.MOST", 1 << 20)
    there = opened(file.read_bytes())
    bomb = gzip.compress(b" " * (4 << 20))
    file.write_bytes(sealed.sealed(there.report, bomb, rows=there.rows, scenarios=there.scenarios))
    assert "unpacked it has more than 1 MiB" in refused("verify", str(file))


@pytest.mark.parametrize(
    "data",
    [b"", b"\x1f\x8b\x08\x00", gzip.compress(b"[" * 100_000), gzip.compress(b"{}")[:-9]],
    ids=["nothing", "a head", "deep", "cut"],
)
def test_transcripts_that_are_none_are_refused_without_a_trace(data: bytes) -> None:
    with pytest.raises(ArchiveError, match="the file"):
        of_bytes(data, EVERY, name="the file")


# What no certificate is made of.


def rewritten(saved: Path, to: Path, **changes: Any) -> Path:
    to.mkdir()
    (to / TRANSCRIPTS).write_bytes((saved / TRANSCRIPTS).read_bytes())
    data = json.loads((saved / REPORT).read_bytes())
    data["configuration"] |= changes.pop("configuration", {})
    (to / REPORT).write_text(json.dumps({**data, **changes}))
    return to


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"ended": Ended.INTERRUPTED, "reason": "Ctrl-C"}, "is not the result of a whole run"),
        ({"configuration": {"selection": ["text-hello"]}}, "scenarios were selected"),
        ({"status": 0}, "is not what this version makes of its transcripts"),
        ({"transcripts": None, "reason": "nothing came"}, "has no transcripts"),
    ],
)
def test_what_is_no_certificate_is_not_written(saved: Path, tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    other = rewritten(saved, tmp_path / "other", **changes)
    assert said in refused("certificate", "write", str(other), "-o", str(tmp_path / "c.zip"))
    assert not (tmp_path / "c.zip").exists()


def test_where_it_cannot_be_written_is_said(saved: Path, tmp_path: Path) -> None:
    assert "cannot be written" in refused("certificate", "write", str(saved), "-o", str(tmp_path / "no" / "c.zip"))


def test_no_key_stands_in_it() -> None:
    """Recordings are masked before they are saved: the key of an endpoint that asked for one is in none."""
    assert b"corpus-key" not in gzip.decompress((CORPUS / "litellm-mock.gz").read_bytes())


# A newer suite.


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A suite of tomorrow: a row that every answer of the endpoint breaks has come, and each SHOULD is a MUST."""
    now = load()
    stricter = tuple(dataclasses.replace(row, level=Level.MUST, compat=True) for row in now.requirements)
    tomorrow = dataclasses.replace(now, date="2031-01-01", requirements=stricter)
    then = editions.parsed(editions.frozen_text(now), current=tomorrow)
    monkeypatch.setattr(editions, "load", lambda: tomorrow)
    monkeypatch.setattr(editions, "_frozen", lambda _: then)
    yield
    monkeypatch.undo()


def test_a_newer_suite_judges_by_the_edition_of_the_certificate(file: Path, newer: None) -> None:
    assert newer is None
    result = wireproof("verify", str(file))
    assert (result.exit_code, result.stderr) == (ExitStatus.CERTIFIED, "")


def test_scenarios_that_have_changed_since_are_left_out(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {one.scenario for one in report_of(file).outcomes}
    first, *rest = (one for one in EVERY if one.name in names)
    assert len(rest) > 3
    other = dataclasses.replace(first, alone=not first.alone)
    assert digests([other]) != digests([first])
    assert digests([dataclasses.replace(first, title="Another")]) == digests([first])
    others = [one for one in EVERY if one.name not in {first.name, rest[0].name}]
    monkeypatch.setattr(certificates, "EVERY", (other, *others))
    result = wireproof("verify", str(file))
    assert result.exit_code == ExitStatus.PARTIAL, result.output
    assert "2 scenarios changed since" in result.stdout
    assert first.name in result.stdout
    assert rest[0].name in result.stdout


# Editions on the command line.


def test_a_result_is_judged_by_an_edition(saved: Path) -> None:
    date = editions.dates()[0]
    result = wireproof("judge", str(saved), "--edition", date, "--format", "json")
    assert json.loads(result.stdout)["catalogue"] == {"date": date, "requirements": len(editions.at(date).requirements)}


@pytest.mark.parametrize("command", ["judge", "certify"])
def test_an_edition_that_is_not_there_is_refused(saved: Path, command: str) -> None:
    words = ["judge", str(saved)] if command == "judge" else ["certify", "--only", "text-hello"]
    result = wireproof(*words, "--edition", "1999-01-01")
    assert result.exit_code == ExitStatus.USAGE
    assert "there is no edition 1999-01-01; there are " in result.stderr
