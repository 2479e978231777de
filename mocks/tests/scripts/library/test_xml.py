from __future__ import annotations

import json

import pytest

from wireproof_scripts.library.xml import VALUES, XML


def test_the_values_are_of_every_kind_and_need_every_escape() -> None:
    values = json.loads(VALUES)
    assert {type(value) for value in values.values()} == {str, int, float, bool, type(None), list, dict}
    assert all(char in values["query"] for char in "&<>\"'\n\U0001f600")


def test_the_arguments_stand_against_the_tools_order() -> None:
    arguments = {script.name: script.parts[0][0].arguments for script in XML}  # type: ignore[union-attr]
    assert list(json.loads(arguments["xml/order"])) == ["extra", "content", "path"]
    assert json.loads(arguments["xml/no-object"]) == [1, 2]
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(arguments["xml/broken"])
