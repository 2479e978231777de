from __future__ import annotations

import pytest

from wireproof_surfaces.assembly.aggregator import AggregatedCall
from wireproof_surfaces.surfaces.chat_dialect import CallFormat, ChatFormat

CALL = AggregatedCall(index=1, id="c", name="f", pieces=['{"q":"<"}'])


@pytest.mark.parametrize(
    ("dialect", "mode"),
    [
        (ChatFormat.OPENAI_JSON, "openai-json"),
        (ChatFormat.OBSIDIAN_XML, "obsidian-xml"),
        (ChatFormat.FUNCTION_CALL, "openai-json"),
    ],
)
def test_every_dialect_belongs_to_an_output_mode_and_one_shows_blocks(dialect: ChatFormat, mode: str) -> None:
    call_format = CallFormat(dialect=dialect)
    assert call_format.output_mode == mode
    assert call_format.shows_blocks is (mode == "obsidian-xml")


def test_a_block_is_written_as_the_settings_say() -> None:
    assert "&lt;" in CallFormat().block(CALL)
    assert "<q><</q>" in CallFormat(escape=False).block(CALL)


def test_calls_keep_their_place() -> None:
    assert CallFormat().opening(CALL)["tool_calls"][0]["index"] == 1
    assert CallFormat().fragment(CALL, "x") == {"tool_calls": [{"index": 1, "function": {"arguments": "x"}}]}
    assert CallFormat().members((CALL,))["tool_calls"][0]["id"] == "c"


def test_only_calls_finish_in_other_words() -> None:
    legacy = CallFormat(dialect=ChatFormat.FUNCTION_CALL)
    assert [legacy.finish("tool_calls"), legacy.finish("length")] == ["function_call", "length"]
    assert CallFormat().finish("tool_calls") == "tool_calls"
