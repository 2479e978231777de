from __future__ import annotations

from wireproof_scripts.library.choices import CHOICES
from wireproof_scripts.steps import Say

BY_NAME = {script.name: script for script in CHOICES}


def test_every_choice_but_the_indexed_ones_has_parts_of_its_own() -> None:
    assert {name: len(script.choices) for name, script in BY_NAME.items()} == {
        "choices/text": 2,
        "choices/mixed": 2,
        "choices/indexed": 0,
        "choices/usage": 2,
    }


def test_the_indexed_choices_are_sent_alternately_and_once_without_an_index() -> None:
    indexes = [step.choice for step in BY_NAME["choices/indexed"].parts[0] if isinstance(step, Say)]
    assert indexes == [0, 1, None, 1, 0, 1]
