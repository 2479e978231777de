"""Structured output and forced calls of real clients against `wireproof serve` as it is, without a script.

Each program (`../structured_*`) goes all its client's ways to an object and to a forced call. The programs are those
whose libraries are installed: instructor wants the previous major version of openai, the others the current one.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from clients import gone, passing_on, serving

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CURRENT = {
    "structured_openai.py": 11,
    "structured_langchain.py": 9,
    "structured_pydantic_ai.py": 5,
    "structured_openai_node.mjs": 8,
    "structured_ai_sdk.mjs": 10,
    "structured_langchain_js.mjs": 7,
}
"""Program → how many ways it goes."""
PREVIOUS = {"structured_openai.py": 11, "structured_instructor.py": 6}
PROGRAMS = PREVIOUS if find_spec("instructor") else CURRENT
NAMED = {
    "structured_langchain.py": {"function-calling", "responses-function-calling", "named", "responses-named"},
    "structured_instructor.py": {"TOOLS", "TOOLS_STRICT", "RESPONSES_TOOLS", "async"},
}
"""Program → the ways in which it names the tool that is to be called."""
PROSE = '- {name: prose, when: Alice, parts: [[{say: "Nobody knows."}]]}'


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving() as base:
        yield base


def is_right(way: str, result: Mapping[str, Any]) -> bool:
    """Whether a way came to what its name says."""
    if "required" in way or "named" in way:
        return result == {"calls": ["FirstTool" if "required" in way else "SecondTool"]}
    match result:
        case {"event": {"name": str(), "day": int(day), "people": [*people]}}:
            return 1 <= day <= 31 and all(isinstance(one, str) for one in people)
        case _:
            return False


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: Path(program).stem)
def test_a_client_gets_objects_and_the_calls_that_it_forces(program: str, url: str) -> None:
    results = gone(program, url)
    assert {way: result for way, result in results.items() if not is_right(way, result)} == {}
    assert len(results) == PROGRAMS[program]


def test_an_endpoint_that_answers_in_prose_comes_to_nothing(tmp_path: Path) -> None:
    file = tmp_path / "scripts.yaml"
    file.write_text(PROSE, encoding="utf-8")
    with serving("--scripts", str(file)) as url:
        results = gone("structured_openai.py", url)
    assert len(results) == PROGRAMS["structured_openai.py"]
    assert not any(is_right(way, result) for way, result in results.items())


@pytest.mark.parametrize("program", sorted(NAMED.keys() & PROGRAMS.keys()))
def test_a_client_that_names_a_tool_raises_where_only_required_is_taken(program: str, url: str) -> None:
    with passing_on(url, refuses=lambda asked: isinstance(asked.get("tool_choice"), dict)) as refusing:
        results = gone(program, refusing)
    failed = {way: result for way, result in results.items() if not is_right(way, result)}
    assert failed.keys() == NAMED[program]
    assert all("not supported here" in result["error"] for result in failed.values())
