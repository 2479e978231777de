from __future__ import annotations

import pytest

from assay.model.dialect import CHATS, Arguments, Dialect, endpoint, output_mode, usual_arguments


def test_every_dialect_is_spoken_on_chat_or_on_responses() -> None:
    assert (*CHATS, Dialect.RESPONSES) == tuple(Dialect)


@pytest.mark.parametrize(
    ("dialect", "path", "mode", "arguments"),
    [
        (Dialect.OPENAI_JSON, "/chat/completions", "openai-json", Arguments.INCREMENTAL),
        (Dialect.OBSIDIAN_XML, "/chat/completions", "obsidian-xml", Arguments.CUMULATIVE),
        (Dialect.FUNCTION_CALL, "/chat/completions", "openai-json", Arguments.INCREMENTAL),
        (Dialect.RESPONSES, "/responses", "openai-json", Arguments.INCREMENTAL),
    ],
)
def test_where_and_how_a_dialect_is_asked_for(dialect: Dialect, path: str, mode: str, arguments: Arguments) -> None:
    assert (endpoint(dialect), output_mode(dialect), usual_arguments(dialect)) == (path, mode, arguments)
