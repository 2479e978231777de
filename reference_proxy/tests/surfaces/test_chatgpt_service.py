from __future__ import annotations

from typing import Any

import pytest

from wireproof_surfaces.surfaces.chatgpt_service import refusal

RIGHT: dict[str, Any] = {"model": "m", "input": [], "store": False, "stream": True}


def test_a_stream_that_is_not_kept_is_taken() -> None:
    assert refusal(RIGHT) is None
    assert refusal({**RIGHT, "max_output_tokens": None, "instructions": "Be brief."}) is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"store": None}, "Store must be set to false"),
        ({"store": True, "stream": False}, "Store must be set to false"),
        ({"stream": None}, "Stream must be set to true"),
        ({"stream": False, "max_output_tokens": 5}, "Stream must be set to true"),
        ({"max_output_tokens": 5}, "Unsupported parameter: max_output_tokens"),
        ({"previous_response_id": "resp_1"}, "Unsupported parameter: previous_response_id"),
    ],
)
def test_what_the_service_refuses_is_refused_in_its_words(change: dict[str, Any], said: str) -> None:
    assert refusal({**RIGHT, **change}) == said


def test_instructions_are_required_where_that_is_wanted() -> None:
    for missing in ({}, {"instructions": None}, {"instructions": ""}):
        assert refusal({**RIGHT, **missing}, wants_instructions=True) == "Instructions are required"
    assert refusal({**RIGHT, "instructions": "Be brief."}, wants_instructions=True) is None
