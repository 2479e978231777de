from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.files.read import ScriptFiles, load_scripts
from wireproof_scripts.steps import Call, Hang, Say, Script

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
        ("a.yaml", b"", "expected a list of scripts under the key `scripts`, found nothing"),
        ("a.yaml", b"[]", "line 1, column 1: expected a list of scripts under the key `scripts`, found []"),
        (
            "a.yaml",
            b"scripts: {}",
            "line 1, column 10, scripts: expected a list of scripts under the key `scripts`, found {}",
        ),
        (
            "a.yaml",
            b"name: a\nparts: []",
            (
                "line 1, column 1: expected a list of scripts under the key `scripts`, found "
                '{"name": "a", "parts": []}; put `- ` before a script'
            ),
        ),
        (
            "a.yaml",
            b"script: []",
            (
                "line 1, column 1: expected a list of scripts under the key `scripts`, found "
                '{"script": []}; did you mean scripts?'
            ),
        ),
        (
            "a.yaml",
            b"- name: a\n  parts: [[{sey: b}]]",
            'line 2, column 12, [0].parts[0][0] in the script a: there is no step "sey"; did you mean say?',
        ),
        (
            "a.yaml",
            b"scripts:\n- name: a\n  parts:\n  - - say: b\n    - say:\n        pieces: [3]",
            "line 6, column 17, scripts[0].parts[0][1].say.pieces in the script a: expected a text, or a list",
        ),
        (
            "a.json",
            b'[{"name": "a",\n"parts": [[{"pause": -1}]]}]',
            "line 2, column 22, [0].parts[0][0].pause.seconds in the script a: expected a number of",
        ),
        ("a.yaml", b"scripts: [1]", "line 1, column 11, scripts[0]: expected a script: name, title, parts, found 1"),
        ("a.json", b"[\n\t1]", "[0]: expected a script: name, title, parts, found 1"),
        (
            "a.yaml",
            b"scripts:\n- {name: a, parts: [[]]}\n- {name: a, parts: [[]]}",
            "line 3, column 10, scripts[1].name: the name a is taken by an earlier script, line 2",
        ),
        ("a.yaml", b"a: [", "line 1, column 5: no YAML: expected the node content, but found '<stream end>'"),
        (
            "a.yaml",
            b"- a: b\n   c: d",
            "line 2, column 5: no YAML: the indentation does not fit: this line stands",
        ),
        (
            "a.yaml",
            b"- a: b\n c: d",
            "line 2, column 2: no YAML: the indentation does not fit: this line belongs",
        ),
        ("a.yaml", b"- a: b: c", "line 1, column 7: no YAML: mapping values are not allowed here; a text with a colon"),
        ("a.yaml", b"- \x00", "no YAML: unacceptable character"),
        ("a.json", b'{"a": }', "line 1, column 7: no JSON: Expecting value"),
        ("a.yaml", b"- \xff", "byte 2: the file is not UTF-8"),
        ("a.yaml", b"- {a: 1, a: 2}", "line 1, column 10: no YAML: the key a stands here twice"),
        ("a.json", b'[{"a": 1, "a": 2}]', "no JSON: the key a is in one object twice"),
        ("a.yaml", b"- !!set {a}", "line 1, column 3: no YAML: could not determine a constructor for the tag"),
        ("a.yaml", b"- &a [*a]", "no YAML: Circular reference detected"),
        ("a.yaml", b"[" + b"9" * 5000 + b"]", "no YAML: Exceeds the limit"),
        ("a.json", b"[" + b"9" * 5000 + b"]", "no JSON: Exceeds the limit"),
        ("a.yaml", b"[" * 5000, "it is nested too deeply"),
        ("a.json", b"[" * 100_000, "no JSON: lists or objects are nested more than 127 deep"),
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


def test_what_looks_like_a_date_is_text_and_a_mark_before_the_text_is_none(tmp_path: Path) -> None:
    path = tmp_path / "scripts.yaml"
    path.write_text(
        "\ufeff- name: 2020-13-45\n  parts: [[{call: {id: c, name: f, arguments: {2020-01-01: 2020-01-02}}}]]"
    )
    [script] = load_scripts(path).values()
    assert script.name == "2020-13-45"
    assert script.parts[0] == (Call(id="c", name="f", arguments='{"2020-01-01": "2020-01-02"}'),)


OTHERS = {"a": Script(name="a", title="", parts=()), "b": Script(name="b", title="", parts=())}


def _written(path: Path, text: str) -> None:
    """Write the file as another one, so that nobody needs to wait for the time of its last change to differ."""
    path.unlink(missing_ok=True)
    path.write_text(text)


def test_the_scripts_of_a_file_come_first_and_replace_others(tmp_path: Path) -> None:
    path = tmp_path / "scripts.yaml"
    path.write_text("[{name: b, parts: [[hang]]}, {name: c, parts: [[hang]]}]")
    library = ScriptFiles([path], OTHERS).library()
    assert isinstance(library, dict)
    assert list(library) == ["b", "c", "a"]
    assert library["b"].parts == ((Hang(),),)


def test_a_file_is_read_again_only_when_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "scripts.yaml"
    path.write_text("[{name: c, parts: [[hang]]}]")
    file = ScriptFiles([path], OTHERS)
    before = file.library()
    assert file.library() is before
    _written(path, "[{name: changed, parts: [[hang]]}]")
    after = file.library()
    assert isinstance(after, dict)
    assert list(after) == ["changed", "a", "b"]


def test_a_file_that_cannot_be_read_any_more_is_an_error_until_it_can_be(tmp_path: Path) -> None:
    path = tmp_path / "scripts.yaml"
    file = ScriptFiles([path], OTHERS)
    found = []
    for text in (None, "[{name: c, parts: [[sey]]}]", "[{name: c, parts: [[hang]]}]"):
        if text:
            _written(path, text)
        found.append(file.library())
    assert isinstance(found[0], ScriptError)
    assert str(found[0]) == f"{path}: cannot be read: No such file or directory"
    assert isinstance(found[1], ScriptError)
    assert "did you mean say?" in str(found[1])
    assert isinstance(found[2], dict)
    assert list(found[2]) == ["c", "a", "b"]


def test_files_and_folders_are_read_together_and_again_when_one_changes(tmp_path: Path) -> None:
    folder = tmp_path / "scripts"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "b.json").write_text('[{"name": "b", "parts": [["hang"]]}]')
    (folder / "a.yaml").write_text("[{name: a, parts: [[hang]]}]")
    (folder / "notes.txt").write_text("no scripts")
    alone = tmp_path / "c.yml"
    alone.write_text("[{name: c, parts: [[hang]]}]")
    files = ScriptFiles([alone, folder], {})
    assert list(files.library()) == ["c", "a", "b"]  # type: ignore[arg-type]
    (folder / "d.yaml").write_text("[{name: d, parts: [[hang]]}]")
    assert list(files.library()) == ["c", "a", "d", "b"]  # type: ignore[arg-type]
    (folder / "d.yaml").unlink()
    assert list(files.library()) == ["c", "a", "b"]  # type: ignore[arg-type]


def test_a_name_is_taken_by_another_file(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text("[{name: same, parts: [[hang]]}]")
    with pytest.raises(ScriptError, match=r"b\.yaml: line 1, column 9, .*taken by a script in .*a\.yaml, line 1$"):
        load_scripts(tmp_path)


@pytest.mark.parametrize(
    ("text", "player", "message"),
    [
        ("[{name: a, parts: [[{status: 500}]]}]", "codex", "wireproof-codex does not play status: only the endpoint"),
        ("[{name: a, parts: [[{status: 500}]]}]", "cursor", "wireproof-cursor does not play status: only the endpoint"),
        ("[{name: a, parts: [[heartbeat]]}]", "codex", "wireproof-codex does not play heartbeat: "),
        ("[{name: a, parts: [[heartbeat]]}]", "endpoint", "wireproof serve does not play heartbeat: "),
        (
            "[{name: a, when: {any: [x, {header: {a: b}}]}, parts: [[hang]]}]",
            "codex",
            "header is what the endpoint (wireproof serve) alone sees; wireproof-codex cannot choose by it",
        ),
        (
            "[{name: a, parts: [[hang]], choices: [[[drip]]]}]",
            "codex",
            "wireproof-codex does not play drip: only the end",
        ),
        *(
            (
                "[{name: a, parts: [[{call: {id: c, name: f, arguments: '', unfinished: true}}]]}]",
                player,
                f"a native call is always complete with wireproof-{player}; the endpoint (wireproof serve) alone",
            )
            for player in ("codex", "cursor")
        ),
    ],
)
def test_a_file_with_what_its_player_cannot_play_is_refused(
    tmp_path: Path, text: str, player: Any, message: str
) -> None:
    path = tmp_path / "scripts.yaml"
    path.write_text(text)
    with pytest.raises(ScriptError) as caught:
        load_scripts(path, player=player)
    assert caught.value.problem.startswith(message)
    assert caught.value.at is not None
