from __future__ import annotations

from wireproof_scripts.library.textual import ODD_BLOCK, TEXTUAL
from wireproof_scripts.steps import Call, Say

SAID = {script.name: step.pieces for script in TEXTUAL for step in script.parts[0] if isinstance(step, Say)}


def test_the_odd_block_is_cut_everywhere_or_nowhere() -> None:
    whole, everywhere = SAID["textual/verbatim"], SAID["textual/any-cut"]
    assert whole == ("".join(everywhere),)
    assert whole[0].endswith(ODD_BLOCK)
    assert all(len(piece) == 1 for piece in everywhere)


def test_each_text_holds_what_its_name_says() -> None:
    texts = {name: "".join(pieces) for name, pieces in SAID.items()}
    complete = {name for name, text in texts.items() if "<use_tool>" in text and "</use_tool>" in text}
    assert complete == {"textual/verbatim", "textual/any-cut", "textual/prefix", "textual/tail"}
    assert texts["textual/false-start"] == "a < b <use_tools <use_too"
    assert not texts["textual/prefix"].startswith("<use_tool>")
    assert not texts["textual/tail"].endswith("</use_tool>")


def test_the_call_that_is_sent_twice_is_sent_in_text_first() -> None:
    (call,) = [step for script in TEXTUAL for step in script.parts[0] if isinstance(step, Call)]
    assert call.shapes == ("use-tool", "native")
