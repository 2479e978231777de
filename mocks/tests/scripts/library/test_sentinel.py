from __future__ import annotations

import json
import re

import pytest

from wireproof_scripts.library.sentinel import SENTINEL
from wireproof_scripts.steps import Say, Step

BLOCK = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)


def text(step: Step) -> str:
    assert isinstance(step, Say)
    return step.text


TEXTS = {script.name: text(script.parts[0][0]) for script in SENTINEL}


def test_the_same_text_is_sent_in_pieces_of_any_size() -> None:
    assert TEXTS["sentinel/plain"] == TEXTS["sentinel/any-cut"]
    (letters,) = [script.parts[0][0] for script in SENTINEL if script.name == "sentinel/any-cut"]
    assert isinstance(letters, Say)
    assert all(len(piece) == 1 for piece in letters.pieces)
    (halves,) = [script.parts[0][0] for script in SENTINEL if script.name == "sentinel/halves"]
    assert isinstance(halves, Say)
    assert not any("<tool_call>" in piece or "</tool_call>" in piece for piece in halves.pieces)
    assert TEXTS["sentinel/plain"].startswith(TEXTS["sentinel/halves"])


@pytest.mark.parametrize("name", ["sentinel/plain", "sentinel/fences", "sentinel/within-line", "sentinel/several"])
def test_blocks_that_are_valid_hold_a_call(name: str) -> None:
    for inner in BLOCK.findall(TEXTS[name]):
        call = json.loads(inner)
        assert {"name", "arguments"} <= set(call)
        assert ("id" in call) != ("call_id" in call)


@pytest.mark.parametrize(("name", "lacks"), [("sentinel/no-id", "id"), ("sentinel/no-name", "name")])
def test_a_block_that_is_not_valid_lacks_what_its_name_says(name: str, lacks: str) -> None:
    (inner,) = BLOCK.findall(TEXTS[name])
    assert {"id", "name", "arguments"} - set(json.loads(inner)) == {lacks}


def test_what_only_looks_like_a_block_is_none() -> None:
    (inner,) = BLOCK.findall(TEXTS["sentinel/no-json"])
    with pytest.raises(ValueError, match="property name"):
        json.loads(inner)
    for name in ("sentinel/false-start", "sentinel/unterminated"):
        assert BLOCK.findall(TEXTS[name]) == []
    assert not any(line.startswith("<tool_call>") for line in TEXTS["sentinel/within-line"].splitlines())


def test_a_tag_within_a_string_ends_nothing() -> None:
    (line,) = (line for line in TEXTS["sentinel/tagged"].splitlines() if line.startswith("<tool_call>"))
    call = json.loads(line.removeprefix("<tool_call>").removesuffix("</tool_call>"))
    assert "</tool_call>" in json.loads(call["arguments"])["query"]
