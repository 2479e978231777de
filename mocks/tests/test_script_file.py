from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from assay_mocks.script import Call, Say, Script
from assay_mocks.script_file import ScriptError, load_scripts

if TYPE_CHECKING:
    from pathlib import Path

YAML = """
scripts:
  - name: weather
    title: A call, then text.
    when: weather
    parts:
      - - call: {id: call_1, name: get_weather, arguments: {city: Zürich}}
      - - say: [It is, " sunny."]
  - name: other
    parts: [[{say: "data: x\\n"}]]
"""
WEATHER = Script(
    name="weather",
    title="A call, then text.",
    when="weather",
    parts=((Call(id="call_1", name="get_weather", arguments='{"city": "Zürich"}'),), (Say(("It is", " sunny.")),)),
)


def test_a_yaml_file_gives_its_scripts_in_order(tmp_path: Path) -> None:
    path = tmp_path / "scripts.yaml"
    path.write_text(YAML, encoding="utf-8")
    library = load_scripts(path)
    assert list(library) == ["weather", "other"]
    assert library["weather"] == WEATHER
    assert library["other"].parts == ((Say(("data: x\n",)),),)


def test_a_json_file_may_be_the_list_alone(tmp_path: Path) -> None:
    path = tmp_path / "scripts.json"
    path.write_text(json.dumps([{"name": "a", "parts": [["hang"]]}]))
    assert list(load_scripts(str(path))) == ["a"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.yaml", b"", "expected a list of scripts under the key `scripts`"),
        ("a.yaml", b"[]", "expected a list of scripts under the key `scripts`"),
        ("a.yaml", b"scripts: {}", "scripts: expected a list of scripts under the key `scripts`"),
        ("a.yaml", b"name: a\nparts: []", "expected a list of scripts under the key `scripts`"),
        ("a.yaml", b"- name: a\n  parts: [[{sey: b}]]", '[0].parts[0][0]: there is no step "sey"; did you mean say?'),
        ("a.yaml", b"scripts: [1]", "scripts[0]: expected a script: name, title, parts, found 1"),
        (
            "a.yaml",
            b"scripts:\n- {name: a, parts: [[]]}\n- {name: a, parts: [[]]}",
            "scripts[1].name: the name a is taken by an earlier script",
        ),
        ("a.yaml", b"a: [", "line 1, column 5: no YAML: expected the node content, but found '<stream end>'"),
        ("a.yaml", b"- \x00", "no YAML: unacceptable character"),
        ("a.json", b'{"a": }', "line 1, column 7: no JSON: Expecting value"),
        ("a.yaml", b"- \xff", "byte 2: the file is not UTF-8"),
    ],
)
def test_a_broken_file_is_refused_with_the_file_the_place_and_the_reason(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ScriptError) as caught:
        load_scripts(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert caught.value.file == str(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match=r"none\.yaml: cannot be read: No such file or directory$"):
        load_scripts(tmp_path / "none.yaml")
