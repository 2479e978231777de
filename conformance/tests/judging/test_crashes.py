"""The error that ended a process, out of what real programs print."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from wireproof.judging.error_texts import error_in

CRASHES = {
    name: (crash["printed"], crash["error"])
    for those in tomllib.loads(Path(__file__).with_name("crashes.toml").read_text(encoding="utf-8")).values()
    for name, crash in those.items()
}
NODE = shutil.which("node")


@pytest.mark.each("crash", CRASHES)
def test_the_error_is_found_in_what_a_program_printed(crash: str) -> None:
    printed, error = CRASHES[crash]
    assert error_in(printed) == error


OTHERS = {
    "nothing": ("", ""),
    "a sentence": ("listening\nno key is set\n", "no key is set"),
    "a sentence and a runner": ("no key is set\nexit status 1", "no key is set"),
    "npm": ("no key is set\nnpm error command failed\nnpm error code 1", "no key is set"),
    "a runner alone": ("exit status 1\n", "exit status 1"),
    "a report that was survived": (
        "Traceback (most recent call last):\n  File\nKeyError: 1\n" + "request\n" * 20 + "out of room", "out of room"
    ),
    "the later of two": ('panic: one\n\nException in thread "main" two', "two"),
}  # fmt: skip


@pytest.mark.each("said", OTHERS)
def test_where_no_runtime_reports_it_the_last_line_is_the_reason(said: str) -> None:
    printed, error = OTHERS[said]
    assert error_in(printed) == error


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
def test_a_crash_of_node_as_it_is_installed() -> None:
    assert NODE
    crash = "setTimeout(() => { throw new RangeError('no room') })"
    printed = subprocess.run([NODE, "-e", crash], capture_output=True, text=True, check=False).stderr
    assert printed.splitlines()[-1].startswith("Node.js v")
    assert error_in(printed) == "RangeError: no room"


def test_a_crash_of_this_python() -> None:
    command = [sys.executable, "-c", "def a():\n raise KeyError('choices')\na()"]
    printed = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    assert error_in(printed) == "KeyError: 'choices'"


PIECES = ["(", " at ", "^\n\n", "a:1:in ", "| ", "panic: ", "Traceback (most recent call last):\n "]


@pytest.mark.each("piece", PIECES)
def test_no_output_takes_long(piece: str) -> None:
    began = time.process_time()
    error_in(piece * (16_384 // len(piece)))
    assert time.process_time() - began < 1
