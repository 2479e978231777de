"""`wireproof scripts`: every mistake with its line, its column and what would be right."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from wireproof.cli.root import root

SCHEMA = Path(__file__).resolve().parents[3] / "schemas" / "wireproof" / "scripts.json"


def check(*paths: Path | str, options: tuple[str, ...] = ()) -> Result:
    return CliRunner().invoke(root, ["scripts", "check", *options, *map(str, paths)])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "scripts.yaml"


# Each mistake that somebody makes, where it is, and what the message must say to mend it.
MISTAKES = [
    ("- name: a\n  parts: [[{sey: Hi}]]", "line 2, column 12", 'there is no step "sey"; did you mean say?'),
    ("- name: a\n  part: [[hang]]", "line 1, column 3", 'there is no field "part"; did you mean parts?'),
    ("- parts: [[hang]]", "line 1, column 3", "name is missing"),
    ("- name: a b\n  parts: [[hang]]", "line 1, column 9", 'letters, digits and . _ / - only, found "a b"'),
    ("- name: a\n  parts: [{say: Hi}]", "line 2, column 11", 'expected a list of steps, found {"say": "Hi"}'),
    ("- name: a\n  parts: [[say]]", "line 2, column 12", "pieces is missing, expected a text, or a list of texts"),
    ("- name: a\n  parts: [[{say: 404}]]", "line 2, column 18", "expected a text, or a list of texts, found 404"),
    ("- name: a\n  title: 3\n  parts: [[hang]]", "line 2, column 10", "expected text, found 3 (in quotes it is text)"),
    (
        "- name: a\n  parts: [[{pause: -1}]]",
        "line 2, column 20",
        "expected a number of seconds from 0 to 1000000000, found -1",
    ),
    ("- name: a\n  parts: [[{status: 99}]]", "line 2, column 21", "expected an HTTP status from 200 to 599, found 99"),
    ("- name: a\n  parts: [[{fail: htp-500}]]", "line 2, column 19", "did you mean http-500?"),
    (
        "- name: a\n  parts:\n  - - say: Hi\n    - status: 500",
        "line 4, column 15",
        "status must come before the answer begins, and say is sent first; move it up",
    ),
    (
        "- name: a\n  parts: [[{disconnect: midframe}]]",
        "line 2, column 25",
        "expected one of here, mid-frame, found",
    ),
    (
        "- name: a\n  parts: [[{call: {name: f, arguments: {}}}]]",
        "line 2, column 19",
        "id is missing, expected text",
    ),
    (
        "- name: a\n  parts: [[{call: {id: c, name: f, arguments: ab, pieces: [a]}}]]",
        "line 2, column 59",
        'joined they must be the arguments, found "a"',
    ),
    ("- name: a\n  when: {txt: b}\n  parts: [[hang]]", "line 2, column 9", 'no field "txt"; did you mean text?'),
    (
        "- name: a\n  when: {text: {matches: '('}}\n  parts: [[hang]]",
        "line 2, column 26",
        'expected a regular expression, found "(": missing )',
    ),
    (
        "- name: a\n  when: {header: {x: {matches: '['}}}\n  parts: [[hang]]",
        "line 2, column 32",
        "unterminated character set",
    ),
    (
        "- name: a\n  parts:\n  - - status: 500\n    - say: Hi",
        "line 4, column 12",
        "say is never played: status before it ends the answer; what answers the next request is a part of its own",
    ),
    ("- name: a\n  when: yes\n  parts: [[hang]]", "line 2, column 9", "found true (in quotes it is text)"),
    ("- name: a\n  when: [b, c]\n  parts: [[hang]]", "line 2, column 9", "one of several is {any: […]}"),
    ("- name: a\n  when: {turn: 0}\n  parts: [[hang]]", "line 2, column 16", "a number, 1 or more, or an object"),
    ("- name: a\n  when: {request: {to: 0}}\n  parts: [[hang]]", "line 2, column 19", 'found {"to": 0}'),
    ("- name: a\n  parts: [[{status: '429'}]]", "line 2, column 21", "(without quotes it is a number)"),
    ("- name: a\n  parts: [[{text: Hi}]]", "line 2, column 12", 'there is no step "text"; did you mean say?'),
    ("- name: a\n  parts:\n  - - say: Hi\n      finish: stop", "line 3, column 7", "each step has a dash of its own"),
    (
        "- name: a\n  parts: [[{think: {text: Hm., pieces: [H, m]}}]]",
        "line 2, column 40",
        'joined they must be the text, found "Hm"',
    ),
    (
        "- name: a\n  parts: [[{bytes: {text: abc, times: 100000000}}]]",
        "line 2, column 39",
        "expected at most 67108864 in one step, found 3 characters, 100000000 times",
    ),
    (
        "- name: a\n  parts: [[{say: note: this}]]",
        "line 2, column 22",
        "a text with a colon and a space needs quotes",
    ),
    ("- name: a\n  parts: [[{say: Hi}]", "line 2, column 22", "a bracket or a quote is not closed"),
    ("- name: a\n  parts: [[hang]]\n---\n- name: b", "line 3, column 1", "take out the line ---"),
    ("name: a\nparts: [[hang]]", "line 1, column 1", "put `- ` before a script"),
    (
        "- name: a\n  sequence: twice\n  parts: [[hang]]",
        "line 2, column 13",
        "expected one of no, conversation, endpoint",
    ),
    (
        "- {name: a, parts: [[hang]]}\n- {name: a, parts: [[hang]]}",
        "line 2, column 10",
        "the name a is taken by an earlier script, line 1",
    ),
    (
        "- name: a\n  parts:\n  - - stall: 1\n    - heartbeat",
        "line 4, column 7",
        "wireproof serve does not play heartbeat",
    ),
    (
        "- {name: a, when: sun, parts: [[hang]]}\n- {name: b, when: sunny, parts: [[hang]]}",
        "line 2, column 19",
        "no request chooses it: a, before it, matches whenever it does; put b first",
    ),
    ("- name: a\n  name: b", "line 2, column 3", "the key name stands here twice"),
    ("- name: a\n\tparts: 1", "line 2, column 1", "cannot start any token; indent with spaces"),
]


@pytest.mark.parametrize(("text", "place", "remedy"), MISTAKES, ids=[remedy for _, _, remedy in MISTAKES])
def test_a_mistake_is_said_with_its_place_and_its_remedy(file: Path, text: str, place: str, remedy: str) -> None:
    file.write_text(text)
    result = check(file)
    first = result.output.splitlines()[0]
    assert first.startswith(f"{file}: {place}"), first
    assert remedy in first
    assert result.exit_code == 1


def test_no_mistake_is_forgotten() -> None:
    assert len(MISTAKES) >= 36


def test_all_mistakes_of_all_files_are_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("- name: a\n  titel: x\n  parts: [[{sey: Hi}, {say: 3}], [{pause: x}]]")
    (tmp_path / "two.json").write_text('[{"name": "b", "parts": [["hang"]]}, {"name": "a", "parts": [[]]}]')
    result = check(tmp_path)
    *mistakes, last = result.output.splitlines()
    assert [line.partition(" in the script a: ")[2].split(",")[0] for line in mistakes[:4]] == [
        'there is no field "titel"; did you mean title?',
        'there is no step "sey"; did you mean say?',
        "expected a text",
        "expected a number of seconds from 0 to 1000000000",
    ]
    assert f"the name a is taken by a script in {tmp_path / 'one.yaml'}, line 1" in mistakes[4]
    assert last == "2 scripts read, 5 mistakes"


def test_right_scripts_are_counted(file: Path) -> None:
    file.write_text("- {name: a, when: a, parts: [[hang]]}\n- {name: b, parts: [[hang]]}")
    result = check(file)
    expected = "no `when`, so a marker alone chooses: b\n2 scripts read, all right\n"
    assert (result.output, result.exit_code) == (expected, 0)


def test_a_condition_that_is_wrong_is_said_once(file: Path) -> None:
    file.write_text("- {name: a, when: {txt: b}, parts: [[hang]]}")
    result = check(file)
    assert result.exit_code == 1
    assert result.output.count("script a") + result.output.count(": a\n") == 1
    assert "marker" not in result.output


def test_an_indentation_that_does_not_fit_is_said_as_that(file: Path) -> None:
    file.write_text("- name: a\n  when: b\n   parts: [[hang]]\n")
    assert check(file).output.startswith(f"{file}: line 3, column ")
    file.write_text("scripts:\n  - name: a\n    when: b\n   parts: [[hang]]\n")
    expected = (
        f"{file}: line 4, column 4: no YAML: the indentation does not fit: this line belongs to none of those above it"
    )
    assert check(file).output.splitlines()[0] == expected


def test_a_program_gets_json(file: Path) -> None:
    file.write_text(
        "- name: a\n  parts: [[{sey: Hi}]]\n- {name: b, when: x, parts: [[]]}\n- {name: c, when: x, parts: [[]]}"
    )
    result = check(file, options=("--json",))
    found = json.loads(result.output)
    assert found["scripts"] == ["a", "b", "c"]
    assert found["mistakes"] == [
        {
            "file": str(file),
            "line": 2,
            "column": 12,
            "place": "[0].parts[0][0]",
            "problem": 'there is no step "sey"; did you mean say?',
        }
    ]
    assert [one["line"] for one in found["hidden"]] == [4]
    assert result.exit_code == 1


# What is no script at all

LINES = list(pairwise("abcdefghi"))
BOMB = "a: &a [x]\n" + "".join(f"{after}: &{after} [{', '.join([f'*{one}'] * 10)}]\n" for one, after in LINES)
MERGES = "a: &a {k: 1}\n" + "".join(
    f"{after}: &{after} {{<<: [{', '.join([f'*{one}'] * 10)}]}}\n" for one, after in LINES
)


@pytest.mark.parametrize("bomb", [BOMB, MERGES], ids=["aliases", "merges"])
def test_a_bomb_does_not_go_off(file: Path, bomb: str) -> None:
    file.write_text(bomb)
    result = check(file)
    assert "its aliases stand for more than 1000000 values" in result.output
    assert "line " in result.output
    assert result.exit_code == 1


def test_a_folder_with_too_many_files_is_refused_whatever_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wireproof_scripts.files.read.MOST_FILES", 3)
    for number in range(4):
        (tmp_path / f"{number}.txt").write_text("")
    result = check(tmp_path)
    assert result.exit_code == 2
    assert "the folder holds more than 3 files; name a smaller one" in result.output


def test_an_alias_that_repeats_little_is_fine(file: Path) -> None:
    file.write_text("- name: a\n  parts: [&hi [{say: Hi}], *hi]\n- &b {name: b, parts: [[hang]]}\n- {<<: *b, name: c}")
    assert check(file).output.splitlines()[-1] == "3 scripts read, all right"


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (os.mkfifo, "is a pipe, expected a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "is a device, expected a regular file"),
        (lambda path: path.write_bytes(b"#" * (2 * 2**20 + 1)), "is larger than 2097152 bytes; divide it"),
        (lambda path: path.write_bytes(b"\xff"), "byte 0: the file is not UTF-8"),
        (lambda path: path.symlink_to(path), "cannot be read: Too many levels of symbolic links"),
        (str, "cannot be read: No such file or directory"),
    ],
    ids=["pipe", "device", "large", "bytes", "circle", "nothing"],
)
def test_what_is_no_file_of_scripts_is_refused_and_does_not_hang(file: Path, make: Any, kind: str) -> None:
    make(file)
    result = check(file)
    assert kind in result.output
    assert result.exit_code == 2


def test_a_folder_without_scripts_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".hidden.yaml").write_text("nonsense: [")
    result = check(tmp_path)
    assert "the folder holds no .yaml, .yml, .json file" in result.output
    assert result.exit_code == 2


def test_without_a_file_there_is_nothing_to_check() -> None:
    assert check().exit_code == 2


# The schema


def test_the_schema_that_is_printed_is_the_one_that_is_published() -> None:
    result = CliRunner().invoke(root, ["scripts", "schema"])
    assert result.output == SCHEMA.read_text()
    Draft202012Validator.check_schema(json.loads(result.output))


def test_the_schema_is_one_of_a_file() -> None:
    schema = Draft202012Validator(json.loads(SCHEMA.read_text()))
    right = {"name": "a", "when": {"any": ["x", {"not": {"turn": {"from": 2}}}]}, "parts": [[{"status": 500}]]}
    assert schema.is_valid({"scripts": [right]})
    assert schema.is_valid([right])
    assert not schema.is_valid(right)
    assert not schema.is_valid([{**right, "when": {"any": []}}])
    assert not schema.is_valid([{**right, "when": {"txt": "x"}}])
