from __future__ import annotations

from typing import get_args

from wireproof_codex.protocol.outputs import CrashAt, GarbageLine, Output, Pieces, ProcessExit, StderrLine


def test_a_core_gives_lines_and_what_an_edge_is_to_do() -> None:
    assert set(get_args(Output)) == {bytes, StderrLine, ProcessExit, GarbageLine, Pieces}


def test_a_process_dies_at_the_first_request_unless_another_is_named() -> None:
    assert CrashAt("thread/start") == CrashAt("thread/start", 1)
