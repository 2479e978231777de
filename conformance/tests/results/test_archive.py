"""Runs that were saved are judged as they were when they were driven."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from wireproof.judging.judge import judge_runs
from wireproof.model.catalogue import load as catalogue
from wireproof.model.target import Target
from wireproof.model.transcript import Death, Wait
from wireproof.results.archive import ArchiveError, load, save
from wireproof.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wireproof.judging.outcomes import ScenarioRun

pytestmark = pytest.mark.sampled(8)
TARGET = Target(base_url="http://127.0.0.1:1/v1", model="codex", api_key='key"with\\quotes')


def test_saved_runs_are_judged_as_they_were(driven: tuple[Target, Sequence[ScenarioRun]], tmp_path: Path) -> None:
    target, runs = driven
    save(tmp_path / "run.gz", target, runs)
    again = load(tmp_path / "run.gz", SCENARIOS)
    assert not again.unknown
    assert len(again.runs) == len(runs) > 8
    assert judge_runs(again.runs, again.target, catalogue()) == judge_runs(runs, target, catalogue())


def test_the_same_runs_give_the_same_file(driven: tuple[Target, Sequence[ScenarioRun]], tmp_path: Path) -> None:
    for name in ("one", "two"):
        save(tmp_path / name, *driven)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_the_key_stands_nowhere_in_a_file(driven: tuple[Target, Sequence[ScenarioRun]], tmp_path: Path) -> None:
    target, runs = driven
    save(tmp_path / "run.gz", target, runs)
    text = gzip.decompress((tmp_path / "run.gz").read_bytes()).decode()
    assert target.api_key
    assert target.api_key not in text
    assert "Bearer key-key-" in text


def test_a_key_with_quotes_stands_nowhere_either(tmp_path: Path) -> None:
    save(tmp_path / "run.gz", TARGET, ())
    key = load(tmp_path / "run.gz", ()).target.api_key
    assert key == "key-key-key-key"
    assert len(key) == len(TARGET.api_key or "")


@pytest.mark.parametrize("key", ["short", "onlyletters"])
def test_a_key_of_any_kind_stands_nowhere(
    driven: tuple[Target, Sequence[ScenarioRun]], key: str, tmp_path: Path
) -> None:
    target, (run, *_) = driven
    form, (first, *_) = next(iter(run.exchanges.items()))
    sent = replace(first.transcript, request_headers=(("authorization", f"Bearer {key}"),))
    renamed = replace(run, exchanges={form: [replace(first, transcript=sent)]})
    save(tmp_path / "run.gz", replace(target, api_key=key), [renamed])
    assert key not in gzip.decompress((tmp_path / "run.gz").read_bytes()).decode()


def test_values_that_each_request_carries_stand_nowhere_and_a_short_one_spoils_nothing(
    driven: tuple[Target, Sequence[ScenarioRun]], tmp_path: Path
) -> None:
    target, runs = driven
    own = (("x-team", "s3cr3t-team"), ("x-flag", "1"), ("x-vendor", "completion"))
    target = replace(target, headers=own, query=(("v", "s3cr3t-v"),))
    save(tmp_path / "run.gz", target, runs)
    text = gzip.decompress((tmp_path / "run.gz").read_bytes()).decode()
    again = load(tmp_path / "run.gz", SCENARIOS)
    assert "s3cr3t" not in text
    assert again.target.headers == (("x-team", "key-key-key"), ("x-flag", "k"), ("x-vendor", "key-key-ke"))
    assert judge_runs(again.runs, again.target, catalogue()) == judge_runs(runs, target, catalogue())


def test_bytes_that_are_no_text_and_the_rest_of_a_transcript_come_back(
    driven: tuple[Target, Sequence[ScenarioRun]], tmp_path: Path
) -> None:
    target, runs = driven
    run = next(run for run in runs if run.exchanges)
    form, (first, *_) = next(iter(run.exchanges.items()))
    odd = replace(
        first.transcript,
        request_body=b"\xff\xfe",
        waits=(Wait(status=429, seconds=1.5),),
        death=Death(status=-9, last_words="out of memory"),
    )
    save(tmp_path / "run.gz", target, [replace(run, exchanges={form: [replace(first, transcript=odd)]})])
    [back] = load(tmp_path / "run.gz", SCENARIOS).runs
    rounded = tuple(replace(piece, at=round(piece.at, 6)) for piece in odd.pieces)
    assert target.api_key
    assert back.exchanges[form][0].transcript.pieces == rounded
    assert (back.exchanges[form][0].transcript.request_body, back.exchanges[form][0].transcript.waits) == (
        odd.request_body,
        odd.waits,
    )
    assert back.exchanges[form][0].transcript.death == odd.death


def test_a_scenario_that_does_not_exist_any_more_is_named(
    driven: tuple[Target, Sequence[ScenarioRun]], tmp_path: Path
) -> None:
    target, runs = driven
    save(tmp_path / "run.gz", target, runs)
    gone = runs[0].scenario
    again = load(tmp_path / "run.gz", [scenario for scenario in SCENARIOS if scenario is not gone])
    assert again.unknown == (gone.name,)
    assert len(again.runs) == len(runs) - 1


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("not JSON", "holds no recorded run"),
        ("", "holds no recorded run"),
        ("[]", "not in format 1"),
        ('{"format": 99}', "not in format 1"),
        ('{"format": 1, "target": {"model": 7}}', "is damaged"),
        (
            '{"format": 1, "target": {"base_url": "http://127.0.0.1/v1", "model": "m"}}\n{"scenario": 1}\n[]',
            "is damaged",
        ),
    ],
)
def test_a_file_that_holds_no_runs_is_refused(lines: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "run.gz").write_bytes(gzip.compress(lines.encode()))
    with pytest.raises(ArchiveError, match=said):
        load(tmp_path / "run.gz", SCENARIOS)


@pytest.mark.parametrize(
    "damage", [{"pieces": [["soon", "data"]]}, {"waits": [{"status": "x", "seconds": []}]}, {"death": {"status": "x"}}]
)
def test_a_transcript_with_something_of_another_type_is_refused(
    damage: dict[str, object], driven: tuple[Target, Sequence[ScenarioRun]], tmp_path: Path
) -> None:
    target, (run, *_) = driven
    save(tmp_path / "run.gz", target, [run])
    head, line = gzip.decompress((tmp_path / "run.gz").read_bytes()).decode().splitlines()
    data = json.loads(line)
    data["exchanges"][0][-1][0]["transcript"] |= damage
    (tmp_path / "run.gz").write_bytes(gzip.compress(f"{head}\n{json.dumps(data)}".encode()))
    with pytest.raises(ArchiveError, match="is damaged"):
        load(tmp_path / "run.gz", SCENARIOS)


def test_a_file_that_is_not_packed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.gz").write_bytes(b"not gzip")
    with pytest.raises(ArchiveError, match="holds no recorded run"):
        load(tmp_path / "run.gz", SCENARIOS)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match=r"none\.gz"):
        load(tmp_path / "none.gz", SCENARIOS)
