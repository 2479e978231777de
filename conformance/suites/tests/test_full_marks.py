"""Suites of strangers against `wireproof serve` as it is without a script: each gives full marks.

What a point cannot be had for stands in the tables, with the reason. A model that the endpoint refuses shows that each
suite sees what is wrong.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.model.served import SERVED_KEY, UNKNOWN_MODEL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

INSTALLED = Path(sys.prefix) / Path(__file__).resolve().parents[1].name
PYTHON = INSTALLED / "python/bin"
CANARY = INSTALLED / "node_modules/.bin/compatcanary"
MODEL = "codex"
"""The name that the endpoint lists: one suite looks for the model among those."""
TIME = 120

REASONING_MODEL = "gpt-5"
"""llm-comply asks models with certain names alone for a summary of reasoning."""
Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A suite as it is started, and what in its report is no full mark."""

    command: tuple[str, ...]
    """With `{url}` and `{model}`; the key is in the environment."""
    short: Callable[[Json], object]
    """Names what lacks; empty if nothing does."""
    ran: Callable[[Json], int]
    """How much was judged."""
    least: int
    """As many as that release judges."""
    model: str = MODEL


def _comply(report: Json) -> list[object]:
    judged = report["results"]
    return [one for one in judged if one["status"] != "passed" or one.get("warnings")]


def comply(format_: str, least: int) -> Suite:
    words = ("--format", format_, "-u", "{url}", "-m", "{model}", "-k", SERVED_KEY, "--json")
    return Suite(
        command=(str(PYTHON / "llm-comply"), "run", *words),
        short=_comply,
        ran=lambda report: report["summary"]["passed"],
        least=least,
        model=REASONING_MODEL,
    )


def _own(name: str, least: int, *, left: tuple[str, ...] = ()) -> Suite:
    """A program of our own with the questions of a suite that is in no registry; those that are left must fail."""
    return Suite(
        command=(
            str(PYTHON / "python"),
            str(Path(__file__).with_name(name)),
            "--base-url",
            "{url}",
            "--model",
            "{model}",
        ),
        short=lambda report: [one for one in report["results"] if (one["status"] == "passed") == (one["id"] in left)],
        ran=lambda report: len(report["results"]),
        least=least,
    )


SUITES: Mapping[str, Suite] = {
    "open-responses": _own("open_responses.py", 17),
    "openai-compatible-tester": _own(
        "compatible_tester.py",
        21,
        # A sum in words within a grammar needs a model's wits; conversations are refused by name.
        left=("responses.custom_tool.grammar", "responses.conversations"),
    ),
    "llm-comply-chat": comply("openai-chat", 9),
    "llm-comply-responses": comply("open-responses", 13),
    "canitoolcall": Suite(
        command=(
            str(PYTHON / "canitoolcall"), "probe", "--base-url", "{url}", "--model", "{model}",
            "--api-key-env", "SUITE_KEY", "--json", "-",
        ),
        short=lambda report: [one for one in report["outcomes"] if one["status"] != "pass" or one["warnings"]],
        ran=lambda report: report["summary"]["pass"],
        least=27,
    ),
    "compatcanary": Suite(
        command=(
            "node", str(CANARY), "scan", "--base-url", "{url}", "--model", "{model}", "--api-key-env", "SUITE_KEY",
            "--format", "json",
        ),
        short=lambda report: (
            [one for one in report["results"] if one["status"] != "pass"] or [s for s in [report["score"]] if s != 100]
        ),
        ran=lambda report: report["summary"]["passes"],
        least=7,
    ),
    "apiwells": Suite(
        command=(
            str(PYTHON / "apiwells"), "doctor", "--base-url", "{url}", "--model", "{model}",
            "--api-key-env", "SUITE_KEY", "--deep", "--v2-json",
        ),
        short=lambda report: [one for one in report["probes"] if one["status"] != "PASS"],
        ran=lambda report: len(report["probes"]),
        least=10,
    ),
    "trustedrouter": Suite(
        command=(
            str(PYTHON / "trustedrouter-provider-check"), "--base-url", "{url}", "--model", "{model}", "--tier", "5",
            "--json", "-",
        ),
        # A catalogue of its own is all that it skips. It warns where a stream arrives at once, as one that waits for no
        # model may.
        short=lambda report: [one for one in report["checks"] if one["status"] not in {"pass", "skip", "warn"}],
        ran=lambda report: sum(one["status"] == "pass" for one in report["checks"]),
        least=20,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The base URL of `wireproof serve`, as a user starts it."""
    command = [str(Path(sys.executable).with_name("wireproof")), "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().removeprefix("base URL").strip()
        finally:
            process.terminate()


def report(suite: Suite, url: str, model: str) -> Json:
    """What a suite says of the endpoint."""
    words = [word.format(url=url, model=model) for word in suite.command]
    environment = {**os.environ, "SUITE_KEY": SERVED_KEY, "NO_PROXY": "127.0.0.1"}
    ran = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=TIME, check=False)
    said: Json = json.loads(ran.stdout or f'{{"nothing": {json.dumps(ran.stderr)}}}')
    return said


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_gives_full_marks(name: str, url: str) -> None:
    said = report(SUITES[name], url, SUITES[name].model)
    assert SUITES[name].short(said) == []
    assert SUITES[name].ran(said) >= SUITES[name].least


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_sees_an_endpoint_that_does_not_serve(name: str, url: str) -> None:
    assert SUITES[name].short(report(SUITES[name], url, UNKNOWN_MODEL))
