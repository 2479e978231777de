"""The page of a result: all in one file, everything escaped, and small enough to send."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from saved_recordings import CONFIGURATION

from wireproof.model.catalogue import load
from wireproof.model.transcript import Death, Piece, Wait
from wireproof.model.verdict import Verdict
from wireproof.report.data import not_driven, report_of
from wireproof.report.page import ENDS, LONGEST, SYMBOLS, exchanges, page
from wireproof.results.document import Ended, Report
from wireproof.results.folder import versions

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof.reading.exchange import Exchange
    from wireproof.results.certificate import Certificate

    Make = Callable[..., Exchange]
    Certified = Callable[..., Certificate]

STOP = {"finish": "stop"}
NASTY = '</script><script>alert(1)</script><img src=x onerror="alert(1)">\x1b[31m\ud800'
EMPTY = {"meta", "input", "br"}
"""Elements that have no end."""


class Elements(HTMLParser):
    """The elements of a page, with their attributes; what is open must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def of(self, tag: str, kind: str = "") -> list[dict[str, str | None]]:
        those = [found for name, found in self.found if name == tag]
        return [found for found in those if not kind or kind in (found.get("class") or "").split()]


def report_on(certificate: Certificate) -> Report:
    return report_of(certificate, load(), CONFIGURATION, versions())


def unpacked(text: str) -> Any:
    """The data that the script of a page unpacks."""
    found = re.search(r'<script type="text/plain" id="data" [^<>]*>([^<]*)</script>', text)
    assert found
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


@pytest.fixture
def certificate(stream: Make, right_whole: Make, certified: Certified) -> Certificate:
    return certified(stream("text-hello", {"role": "assistant"}, {"content": "no"}, STOP), right_whole("text-hello"))


def test_a_page_loads_nothing_from_anywhere(certificate: Certificate) -> None:
    text = page(report_on(certificate), certificate.runs)
    elements = Elements(text)
    loading = [found for _, found in elements.found if {"src", "srcset", "action", "data"} & found.keys()]
    assert loading == []
    assert [one["href"] for one in elements.of("a")] == ["#matrix"]
    assert elements.of("link") == []
    assert not re.search(r"\b(?:url\(|@import|fetch\(|XMLHttpRequest|import\()", text)
    [policy] = [one["content"] for one in elements.of("meta") if one.get("http-equiv")]
    assert policy is not None
    assert policy.startswith("default-src 'none';")


def test_each_cell_opens_what_it_speaks_of_and_has_a_name(certificate: Certificate) -> None:
    report = report_on(certificate)
    text = page(report, certificate.runs)
    cells = Elements(text).of("button", "cell")
    assert [(one["data-requirement"], one["data-dialect"], one["data-mode"]) for one in cells] == [
        (one.requirement, one.dialect, one.mode) for one in report.cells
    ]
    assert [one["data-strict"] for one in cells] == [one.strict for one in report.cells]
    for one in report.cells:
        assert f'<span class="hidden">{one.strict}: {one.requirement}, {one.dialect}, {one.mode}</span>' in text
    assert set(SYMBOLS) == set(Verdict)
    given = re.search(r"data-symbols='([^']*)'", text)
    assert given is not None
    assert json.loads(given[1]) == SYMBOLS
    assert "dataset.symbols" in text.rpartition("<script>")[2]


def test_what_is_wrong_stands_in_the_page_itself(certificate: Certificate) -> None:
    report = report_on(certificate)
    text = page(report, certificate.runs)
    for one in report.findings:
        assert f"<code>{one.requirement}</code></h3>" in text
    assert len(Elements(text).of("article", "finding")) == len(report.findings) > 0


def test_the_data_hold_every_exchange_with_its_frames_and_its_request(certificate: Certificate) -> None:
    data = unpacked(page(report_on(certificate), certificate.runs))
    assert set(data["exchanges"]) == {"text-hello openai-json stream", "text-hello openai-json whole"}
    [streamed] = data["exchanges"]["text-hello openai-json stream"]
    [whole] = data["exchanges"]["text-hello openai-json whole"]
    body = certificate.runs[0].exchanges[next(iter(certificate.runs[0].exchanges))][0].transcript.body
    assert "".join(frame["text"] for frame in streamed["frames"]).encode() == body
    assert [frame["lanes"] for frame in streamed["frames"]] == [["choice 0"]] * 4 + [["end"]]
    assert streamed["size"] == len(body)
    assert streamed["curl"].startswith("curl -sN ")
    assert streamed["answer"].startswith("HTTP 200 (complete, ")
    assert (whole["frames"], json.loads(whole["body"])["object"]) == ([], "chat.completion")
    broken = [place for one in data["outcomes"] for place in one["places"] if one["requirement"] == "chat.stream.text"]
    assert broken[0]["scenario"] == "text-hello"


def test_what_a_target_says_becomes_no_element(certificate: Certificate) -> None:
    report = report_on(certificate)
    assert report.target is not None
    usual = Elements(page(report, certificate.runs))
    nasty = replace(
        report,
        reason=NASTY,
        target=replace(report.target, base_url=NASTY, model=NASTY),
        findings=tuple(replace(one, seen=NASTY) for one in report.findings),
        cells=tuple(replace(one, reason=NASTY) for one in report.cells),
    )
    text = page(nasty, certificate.runs)
    found = Elements(text)
    assert found.of("img") == []
    assert len(found.of("script")) == len(usual.of("script")) == 2
    assert "\x1b" not in text
    assert "alert(1)" in text
    text.encode()


def test_long_bodies_and_streams_are_cut_and_what_was_found_stays(
    certificate: Certificate, stream: Make, certified: Certified
) -> None:
    many: list[dict[str, object]] = [{"content": f"word {number} "} for number in range(1000)]
    many[500] = {"content": 7}
    certificate = certified(stream("text-hello", {"role": "assistant"}, *many, STOP))
    report = report_on(certificate)
    [[transcript]] = [[one.transcript for one in those] for those in certificate.runs[0].exchanges.values()]
    place = next(place for one in report.outcomes for place in one.places if place.offset is not None)
    [[shown]] = exchanges(certificate.runs, report).values()
    frames = [frame for frame in shown["frames"] if "number" in frame]
    assert 2 * ENDS < len(frames) < 2 * ENDS + 20
    assert sum(frame.get("skipped", 0) for frame in shown["frames"]) + len(frames) == transcript.body.count(b"data: ")
    assert any(frame["number"] == place.frame for frame in frames)


def test_a_huge_body_is_cut(certified: Certified, right_whole: Make) -> None:
    one = right_whole("text-hello")
    huge = replace(one.transcript, request_body=b" " * 20_000_000, pieces=(Piece(at=1.0, data=b"\xff" * 1_000_000),))
    certificate = certified(replace(one, transcript=huge))
    text = page(report_on(certificate), certificate.runs)
    assert len(text) < 300_000
    [[shown]] = unpacked(text)["exchanges"].values()
    assert shown["request"].endswith(f"… {20_000_000 - LONGEST} bytes more")
    assert "bytes more" in shown["body"]


def test_waits_a_death_and_a_frame_that_was_cut_off_are_said(certified: Certified, stream: Make) -> None:
    one = stream("text-hello", {"role": "assistant"}, b"data: half", bare=True)
    transcript = replace(
        one.transcript, waits=(Wait(status=429, seconds=1.0),), death=Death(status=-9, last_words="killed")
    )
    certificate = certified(replace(one, transcript=transcript))
    [[shown]] = exchanges(certificate.runs, report_on(certificate)).values()
    assert "after 1 refusal for lack of capacity, and the process ended with status -9" in shown["answer"]
    assert shown["frames"][-1]["text"].endswith("data: half")


def test_a_run_that_could_not_begin_has_a_page() -> None:
    report = not_driven(
        Ended.UNREACHABLE, "nothing answers", began="", catalogue=load(), configuration=CONFIGURATION,
        versions=versions(),
    )  # fmt: skip
    text = page(report, ())
    Elements(text)
    assert "<strong>unreachable</strong>: nothing answers" in text
