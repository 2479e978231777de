"""What an agent of LangGraph in JavaScript makes of answers that all have one id: it keeps what was said by its id."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from clients import gone, passing_on, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCRIPT = """
- name: weather
  when: Alice
  parts:
    - - call: { id: call_1, name: look, arguments: { place: Rome } }
    - - call: { id: call_2, name: look, arguments: { place: Oslo } }
    - - say: Done.
"""
WAYS = "whole", "stream"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    file: Path = tmp_path_factory.mktemp("scripts") / "weather.yaml"
    file.write_text(SCRIPT, encoding="utf-8")
    with serving("--scripts", str(file)) as base:
        yield base


def test_an_agent_runs_both_tools_and_tells_the_answer(url: str) -> None:
    with passing_on(url) as through:
        results = gone("agent_langgraph.mjs", through)
    assert results == {way: {"ran": ["Rome", "Oslo"], "said": "Done."} for way in WAYS}


def test_an_agent_runs_one_tool_and_ends_with_what_it_said_where_all_answers_have_one_id(url: str) -> None:
    with passing_on(url, change=lambda body: re.sub(rb"chatcmpl-[^\"]+", b"chatcmpl-1", body)) as through:
        results = gone("agent_langgraph.mjs", through)
    assert results == {way: {"ran": ["Rome"], "said": "It rains in Rome."} for way in WAYS}
