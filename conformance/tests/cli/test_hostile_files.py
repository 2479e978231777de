"""Files that others may have made: what is no such file is refused in one line, or shown as what it is.

A table of every command that reads a file, and of what a file may be instead. None hangs, fills the memory or ends in a
traceback, and none has another exit status than that of wrong usage.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from commands import refused, wireproof

from wireproof.cli.results import FORMATS, TERMINAL, TEXTS
from wireproof.results import folder, sealed
from wireproof.results.archive import MOST_PARTS
from wireproof.results.certificate import ExitStatus
from wireproof.results.folder import REPORT, TRANSCRIPTS, FolderError
from wireproof_endpoint.__main__ import main as endpoint
from wireproof_fuzz.damaged_files import broken_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from conformance.tests.conftest import TinyServer

pytestmark = pytest.mark.sampled(45)

GIBIBYTE = 1 << 30
PARTS = MOST_PARTS + 1
STEER = "\x1b[31m\x9b2J\u202egnp.\x07"
HOSTILE = f"{STEER}<script>alert(1)</script>]]>\x00\ud800|`\"'&\r\n::error::"
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]|\x1b(?!\\[[0-9;]*m)"
)
"""What would steer a terminal, but for the colours that rich itself writes."""


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(GIBIBYTE)


NO_FILES: Mapping[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "folder": Path.mkdir,
    "sparse": _sparse,
    "bytes": lambda path: path.write_bytes(b"\xff\xfe\x00\x1b[31m"),
    "deep": lambda path: path.write_text("[" * 200_000),
    "brackets": lambda path: path.write_text("[" + "[]," * 3_000_000 + "[]]"),
    "missing": lambda _: None,
    "circle": lambda path: path.symlink_to(path),
}
"""What a path may lead to instead of the file that a command wants."""
READ: Mapping[str, Callable[[Path], list[str | Path]]] = {
    "certify --target": lambda file: ["certify", "--target", file],
    "verify": lambda file: ["verify", file],
    "serve --scripts": lambda file: ["serve", "--scripts", file],
}
"""What reads a file that a person names."""
CHECKED_BY_CLICK: Mapping[str, Callable[[Path], list[str | Path]]] = {
    "certify --known-failing": lambda file: ["certify", "--known-failing", file],
    "certify --config-template": lambda file: ["certify", "--gateway", "true {port}", "--config-template", file],
    "init --config-template": lambda file: [
        "init", "--gateway", "true {port}", "--config-template", file, "--file", file.with_name("wireproof.toml"),
    ],
}  # fmt: skip
"""The same for options of which the library of the command line says itself that there is no file, with a usage."""
OF_RESULTS: Mapping[str, Callable[[Path, Path], list[str | Path]]] = {
    "judge": lambda bad, _: ["judge", bad],
    "compare": lambda bad, good: ["compare", good, bad],
    "diff": lambda bad, good: ["diff", good, bad],
    "site": lambda bad, good: ["site", good, bad, "--output", bad.with_name("site")],
    "replay": lambda bad, _: ["replay", bad, "auth-wrong", "--curl"],
    "certificate write": lambda bad, _: ["certificate", "write", bad, "--output", bad.with_name("written")],
    "report --format html": lambda bad, _: ["report", bad, "--format", "html"],
}
"""What reads the report of a result and its transcripts."""
OF_REPORTS: Mapping[str, Callable[[Path, Path], list[str | Path]]] = {
    **OF_RESULTS,
    **{f"report --format {form}": lambda bad, _, form=form: ["report", bad, "--format", form]  # type: ignore[misc]
       for form in (TERMINAL, *TEXTS)},
    "known-failing write": lambda bad, _: ["known-failing", "write", bad],
    "site --example": lambda bad, good: ["site", good, "--example", bad, "--output", bad.with_name("site")],
}  # fmt: skip
"""What reads the report of a result."""


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small result."""
    there = tmp_path_factory.mktemp("results") / "good"
    words = ("certify", "--only", "auth-wrong", "--only", "text-hello", "--allow-partial", "--output", there)
    assert wireproof(*words).exit_code == ExitStatus.CERTIFIED
    return there


@pytest.fixture
def bad(good: Path, tmp_path: Path) -> Path:
    """The same, to be changed."""
    return Path(shutil.copytree(good, tmp_path / "bad"))


def test_a_name_that_no_file_can_have_is_refused(good: Path, tmp_path: Path) -> None:
    # The system refuses it with another error than that nothing is there; so it does behind a folder that is closed.
    name = tmp_path / ("n" * 5000)
    commands: dict[str, list[str | Path]] = {
        **{command: make(name) for command, make in {**READ, **CHECKED_BY_CLICK}.items()},
        **{command: make(name, good) for command, make in OF_REPORTS.items()},
        **{
            f"certify {option}": ["certify", option, name, "--url", "http://127.0.0.1:9/v1"]
            for option in ("--codex", "--output")
        },
        "init --file": ["init", "--file", name, "--url", "http://127.0.0.1:9/v1"],
        **{
            f"record {more}": ["record", *more, "--upstream", "http://127.0.0.1:9/v1", "--output", name]
            for more in ((), ("--per-test",))
        },
    }
    for command, words in commands.items():
        done = wireproof(*words)
        assert isinstance(done.exception, SystemExit), (command, done.exception)
        assert done.exit_code == ExitStatus.USAGE, (command, done.output)


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("command", READ)
def test_what_is_not_the_file_that_a_command_wants_is_refused_in_one_line(
    command: str, kind: str, tmp_path: Path
) -> None:
    file = tmp_path / "file.yaml"
    NO_FILES[kind](file)
    assert str(file) in refused(*READ[command](file))


@pytest.mark.parametrize("kind", [kind for kind in NO_FILES if kind not in {"deep", "brackets"}])
@pytest.mark.parametrize("command", CHECKED_BY_CLICK)
def test_an_option_names_no_such_file(command: str, kind: str, tmp_path: Path) -> None:
    file = tmp_path / "file.yaml"
    NO_FILES[kind](file)
    done = wireproof(*CHECKED_BY_CLICK[command](file))
    assert (done.exit_code, done.stdout) == (ExitStatus.USAGE, "")
    assert str(file) in done.stderr.splitlines()[-1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", OF_REPORTS)
def test_what_is_no_report_is_refused_in_one_line(command: str, bad: Path, good: Path) -> None:
    for kind in NO_FILES:
        _put(kind, bad / REPORT)
        assert str(bad) in refused(*OF_REPORTS[command](bad, good)), kind


@pytest.mark.parametrize("command", OF_RESULTS)
def test_what_are_no_transcripts_is_refused_in_one_line(command: str, bad: Path, good: Path) -> None:
    for kind in NO_FILES:
        _put(kind, bad / TRANSCRIPTS)
        assert str(bad) in refused(*OF_RESULTS[command](bad, good)), kind


def _put(kind: str, path: Path) -> None:
    """Put what is no such file, or nothing, in the place of what is there."""
    if path.is_dir():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
    NO_FILES[kind](path)


def _packed_head(bad: Path) -> bytes:
    return gzip.decompress((bad / TRANSCRIPTS).read_bytes()).split(b"\n")[0] + b"\n"


BOMBS: Mapping[str, Callable[[bytes], bytes]] = {
    "zeros": lambda _: gzip.compress(b"0" * (1 << 24)) * 17,
    "brackets": lambda head: gzip.compress(head + b"[" + b"[]," * PARTS + b"[]]"),
    "brackets in a line of a run": lambda head: gzip.compress(
        head + b'{"scenario": "auth-wrong", "exchanges": [' + b"{}," * PARTS + b"{}]}"
    ),
    "deep": lambda head: gzip.compress(head + b"[" * 200_000),
    "no run": lambda head: gzip.compress(head + b'{"scenario": "auth-wrong", "exchanges": 1}'),
    "half": lambda head: gzip.compress(head)[:-9],
}
"""Transcripts whose hash stands in the report, as whoever wants to do harm would have it."""


@pytest.mark.parametrize("bomb", BOMBS)
def test_transcripts_that_unpack_to_more_than_a_run_are_refused_in_one_line(bomb: str, bad: Path, good: Path) -> None:
    packed = BOMBS[bomb](_packed_head(bad))
    (bad / TRANSCRIPTS).write_bytes(packed)
    report = json.loads((bad / REPORT).read_bytes())
    report["transcripts"]["sha256"] = hashlib.sha256(packed).hexdigest()
    (bad / REPORT).write_text(json.dumps(report))
    assert str(bad) in refused(*OF_RESULTS["judge"](bad, good))
    # The same in a certificate, which holds its own hashes.
    file = bad.with_name("file.wireproof")
    read = folder.read(bad).report
    file.write_bytes(sealed.sealed(read, packed, rows="", scenarios={}))
    assert str(file) in refused("verify", file)


@pytest.mark.parametrize(
    "name", ["../../x", "/etc/passwd", "a/b", ".", "..", "a\\b", "a\x1b[31m", "\u202ex", "a" * 300]
)
def test_a_target_has_no_name_that_leads_out_of_its_folder(name: str, tmp_path: Path) -> None:
    file = tmp_path / "wireproof.toml"
    file.write_text(f"name = {json.dumps(name)}\n", encoding="utf-8")
    assert "name is" in refused("certify", "--target", file)


def test_a_saved_request_to_another_host_does_not_get_the_key(
    bad: Path, tiny: TinyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = gzip.decompress((bad / TRANSCRIPTS).read_bytes()).decode()
    head, *lines = text.splitlines()
    there = json.loads(head)["target"]["base_url"]
    moved = [line.replace(there, f"{tiny.root.replace('127.0.0.1', 'localhost')}/v1") for line in lines]
    packed = gzip.compress("\n".join([head, *moved]).encode())
    (bad / TRANSCRIPTS).write_bytes(packed)
    report = json.loads((bad / REPORT).read_bytes())
    report["transcripts"]["sha256"] = hashlib.sha256(packed).hexdigest()
    (bad / REPORT).write_text(json.dumps(report))
    monkeypatch.setenv("A_KEY", "sk-0123456789")
    words = ("replay", bad, "text-hello", "--url", "http://127.0.0.1:9/v1", "--api-key-env", "A_KEY")
    assert "which is not the target" in refused(*words)
    assert tiny.requests == []


@pytest.mark.parametrize("member", ["transcripts", "repeats"])
def test_a_report_does_not_choose_what_is_read_as_a_part_of_its_result(member: str, bad: Path, good: Path) -> None:
    report = json.loads((bad / REPORT).read_bytes())
    if member == "transcripts":
        report["transcripts"]["file"] = "../good/transcripts.jsonl.gz"
    else:
        report["repeats"] = [{"status": 0, "began": "", "seconds": 1.0, "shown": True, "folder": "../../good"}]
    (bad / REPORT).write_text(json.dumps(report))
    assert "where" in refused(*OF_REPORTS["judge"](bad, good))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "9" * 5000])
def test_a_report_has_no_number_that_json_cannot_say(number: str, bad: Path, good: Path) -> None:
    text = (bad / REPORT).read_text()
    (bad / REPORT).write_text(re.sub(r'"seconds": [\d.]+', f'"seconds": {number}', text, count=1))
    assert str(bad) in refused(*OF_REPORTS["report --format json"](bad, good))


def _places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, str):
        yield path
    for key, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _places(one, (*path, key))


def _with_hostile_texts(report: Any) -> Any:
    """The report with the hostile text wherever a report may have any text."""
    for path in [*_places(report)]:
        within = report
        for key in path[:-1]:
            within = within[key]
        was, within[path[-1]] = within[path[-1]], HOSTILE
        try:
            folder.parsed(json.dumps(report).encode(), REPORT)
        except FolderError:
            within[path[-1]] = was
    return report


def test_a_report_whose_every_text_is_hostile_is_shown_as_text_in_any_format(tmp_path: Path, good: Path) -> None:
    bad = Path(shutil.copytree(broken_result(), tmp_path / "bad"))
    whole = json.loads((bad / REPORT).read_bytes())
    # Of each list the first entries, as the others are shown in the same way.
    report = _with_hostile_texts({name: one[:3] if isinstance(one, list) else one for name, one in whole.items()})
    assert json.dumps(report).count("alert(1)") > 50
    (bad / REPORT).write_text(json.dumps(report))
    for form in FORMATS:
        done = wireproof("report", bad, "--format", form)
        if done.exit_code == ExitStatus.USAGE:
            assert done.stderr.count("\n") == 1
            continue
        shown = done.stdout
        assert not isinstance(done.exception, (ValueError, LookupError, TypeError)), form
        match form:
            case "json":
                json.loads(shown)
            case "jsonl":
                [json.loads(line) for line in shown.splitlines()]
            case "junit":
                ET.fromstring(shown)  # noqa: S314 (it is what was just written)
            case _:
                assert "<script>alert" not in shown, form
                assert not _STEERING.search(shown.replace("\n", "")), form
    for command in OF_REPORTS:
        done = wireproof(*OF_REPORTS[command](bad, good))
        assert done.exception is None or isinstance(done.exception, SystemExit), command
        assert not _STEERING.search(done.stderr.replace("\n", "")), command


@pytest.mark.parametrize("kind", NO_FILES)
def test_the_key_of_an_endpoint_is_read_from_a_file_of_bounded_size(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "key"
    NO_FILES[kind](file)
    with pytest.raises(SystemExit) as ended:
        endpoint(["--api-key-file", str(file)])
    assert ended.value.code == ExitStatus.USAGE
    assert str(file) in capsys.readouterr().err.splitlines()[-1]
