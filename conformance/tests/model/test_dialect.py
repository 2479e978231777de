from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from wireproof.model.dialect import (
    BLOCK_MODES,
    CHATS,
    DEFAULT,
    MODE_HEADER,
    ONE_OF_EACH,
    OPENAIS,
    ArgumentsMode,
    Carrier,
    Dialect,
    DialectSpec,
    Surface,
    carriers_of,
    mode_of,
)

CALL = {"type": "function", "id": "call_1", "function": {"name": "f", "arguments": "{}"}}


def test_every_surface_has_a_dialect_that_is_spoken_wherever_it_is() -> None:
    assert {*CHATS, Dialect.RESPONSES, Dialect.MESSAGES} == set(Dialect)
    assert [dialect.spec.surface for dialect in ONE_OF_EACH] == list(Surface)
    assert {*OPENAIS, Dialect.MESSAGES} == set(Dialect)


@pytest.mark.parametrize(
    ("dialect", "path", "mode", "arguments"),
    [
        (Dialect.OPENAI_JSON, "/chat/completions", "openai-json", ArgumentsMode.INCREMENTAL),
        (Dialect.OBSIDIAN_XML, "/chat/completions", "obsidian-xml", ArgumentsMode.CUMULATIVE),
        (Dialect.FUNCTION_CALL, "/chat/completions", "openai-json", ArgumentsMode.INCREMENTAL),
        (Dialect.RESPONSES, "/responses", "openai-json", ArgumentsMode.INCREMENTAL),
    ],
)
def test_where_and_how_a_dialect_is_asked_for(dialect: Dialect, path: str, mode: str, arguments: ArgumentsMode) -> None:
    spec = dialect.spec
    assert (spec.surface.endpoint, spec.headers, spec.arguments) == (path, {MODE_HEADER: mode}, arguments)


def test_a_dialect_without_output_modes_asks_for_none() -> None:
    spec = Dialect.MESSAGES.spec
    assert (spec.surface.endpoint, spec.headers) == ("/messages", {"anthropic-version": "2023-06-01"})


def test_a_dialect_is_found_by_its_name_and_stays_itself_in_copies() -> None:
    for dialect in Dialect:
        assert Dialect(dialect.value) is dialect
        assert copy.deepcopy(dialect) is dialect
        assert pickle.loads(pickle.dumps(dialect)) is dialect  # noqa: S301 (our own bytes)


def test_no_two_dialects_are_the_same_but_for_their_names() -> None:
    assert len({dialect.spec for dialect in Dialect}) == len(Dialect)
    assert DEFAULT.spec == DialectSpec()


def test_only_one_output_mode_writes_blocks() -> None:
    assert frozenset({"obsidian-xml"}) == BLOCK_MODES


@pytest.mark.parametrize(
    ("message", "carriers"),
    [
        ({"content": "Hello."}, set()),
        ({"content": None}, set()),
        ({"content": None, "tool_calls": []}, set()),
        ({"content": None, "tool_calls": [CALL]}, {Carrier.TOOL_CALLS}),
        ({"content": "<use_tool>…", "tool_calls": [CALL]}, {Carrier.BLOCKS}),
        ({"content": "<use_tool>…"}, {Carrier.BLOCKS}),
        ({"content": None, "function_call": CALL["function"]}, {Carrier.FUNCTION_CALL}),
        ({"content": None, "function_call": CALL["function"], "tool_calls": [CALL]}, {Carrier.FUNCTION_CALL}),
    ],
)
def test_a_message_shows_where_it_carries_calls(message: dict[str, Any], carriers: set[Carrier]) -> None:
    assert carriers_of(message) == carriers


@pytest.mark.parametrize(("content", "mode"), [("<use_tool>…", Dialect.OBSIDIAN_XML), ("", Dialect.OPENAI_JSON)])
def test_the_content_shows_its_output_mode(content: str, mode: Dialect) -> None:
    assert mode_of(content) is mode
