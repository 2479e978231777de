from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_surfaces.tools import use_tool
from wireproof_surfaces.tools.use_tool import CANONICAL, TextCall


def lines(name: str, arguments: str, **options: Any) -> list[str]:
    first, *inner, last = use_tool.write(name, arguments, **options).split("\n")
    assert (first, last) == ("<use_tool>", "</use_tool>")
    return inner


def test_a_block_is_a_name_and_an_element_for_each_argument() -> None:
    assert use_tool.write("localSearch", '{"query":"a b","salientTerms":["x","y"]}') == (
        "<use_tool>\n  <name>localSearch</name>\n  <query>a b</query>\n"
        '  <salientTerms>["x","y"]</salientTerms>\n</use_tool>'
    )


def test_keys_stand_in_the_tools_own_order_and_then_as_they_came() -> None:
    inner = lines("writeToFile", '{"z":1,"content":"c","a":2,"path":"p"}')
    assert [line.split(">")[0].strip(" <") for line in inner] == ["name", "path", "content", "z", "a"]
    assert CANONICAL["replaceInFile"] == ("path", "diff")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ('"text"', "text"),
        ('""', ""),
        ("null", ""),
        ("true", "true"),
        ("1.50", "1.50"),
        ("-1e3", "-1e3"),
        ('{ "a" : [1, null] }', '{"a":[1,null]}'),
        ('"\\u00e9 \\"q\\" \'s\'"', "é \"q\" 's'"),
        ('"a & b <c>"', "a &amp; b &lt;c&gt;"),
        ('["<"]', '["&lt;"]'),
        ('"two\\nlines"', "two\nlines"),
    ],
)
def test_values_are_written_as_the_contract_says(value: str, written: str) -> None:
    assert use_tool.write("f", f'{{"key": {value}}}') == (
        f"<use_tool>\n  <name>f</name>\n  <key>{written}</key>\n</use_tool>"
    )


def test_values_may_be_left_raw() -> None:
    assert lines("f", '{"k":"a & <b>"}', escape=False)[1] == "  <k>a & <b></k>"


@pytest.mark.parametrize("arguments", ["", "[1, 2]", '"text"', "5", '{"a":', "not <json>", '{"a": NaN}'])
def test_arguments_that_are_no_object_stand_whole(arguments: str) -> None:
    escaped = arguments.replace("<", "&lt;").replace(">", "&gt;")
    assert lines("f", arguments)[1:] == [f"  <args>{escaped}</args>"]
    assert use_tool.read(use_tool.write("f", arguments)) == TextCall(
        name="f", arguments=arguments, block=use_tool.write("f", arguments)
    )


def test_keys_that_no_element_can_have_stand_in_args() -> None:
    inner = lines("f", '{"two words":1.0,"ok":2,"name":"x","args":[],"2nd":null}')
    assert inner[1:] == ["  <ok>2</ok>", '  <args>{"two words":1.0,"name":"x","args":[],"2nd":null}</args>']


def test_a_call_without_arguments_has_a_name_alone() -> None:
    assert lines("getFileTree", "{}") == ["  <name>getFileTree</name>"]


# Reading


def arguments(inner: str) -> Any:
    sent = use_tool.read(f"<use_tool>{inner}</use_tool>")
    assert sent is not None
    return sent.arguments


@pytest.mark.parametrize(
    ("inner", "read"),
    [
        ("<name>f</name>", "{}"),
        ("\n\t<name> f </name>\n <q>odd   spacing &amp; more</q>", '{"q":"odd   spacing & more"}'),
        ("<q>5</q><name>f</name>", '{"q":5}'),
        ("<name>f</name><q> 1.50 </q>", '{"q":1.50}'),
        ('<name>f</name><q>[ "a" ,\n"b" ]</q>', '{"q":["a","b"]}'),
        ('<name>f</name><q>"quoted"</q>', '{"q":"\\"quoted\\""}'),
        ("<name>f</name><q>{broken</q>", '{"q":"{broken"}'),
        ("<name>f</name><q></q>", '{"q":""}'),
        ("<name>f</name><q>&amp;lt; &quot;&apos;</q>", '{"q":"&lt; \\"\'"}'),
        ("<name>f</name><q><b>bold</b></q>", '{"q":"<b>bold</b>"}'),
        ("<name>f</name><open><q>1</q>", '{"q":1}'),
        ("<name>f</name><q>1</q><q>2</q>", '{"q":1}'),
        ("<name>f</name><args>raw [</args>", "raw ["),
        ('<name>f</name><q>1</q><args>{"two words":2}</args>', '{"q":1,"two words":2}'),
        ("<name>f</name><q>1</q><args>{}</args>", '{"q":1,"args":{}}'),
        ("<name>f</name><q>1</q><args>words</args>", '{"q":1,"args":"words"}'),
    ],
)
def test_elements_are_read_as_json(inner: str, read: str) -> None:
    assert arguments(inner) == read


@pytest.mark.parametrize("inner", ["", "<name></name>", "<name> </name>", "words", "<q>1</q>"])
def test_a_block_that_names_no_tool_shows_no_call(inner: str) -> None:
    assert use_tool.read(f"<use_tool>{inner}</use_tool>") is None


def test_reading_is_fast_whatever_stands_in_the_block() -> None:
    before = time.process_time()
    assert use_tool.read("<use_tool><name>f</name>" + "<a>" * 200_000 + "</use_tool>")
    assert time.process_time() - before < 5


KEYS = st.sampled_from(["query", "content", "path", "two words", "name", "args", "é", "x-y", ""])
PLAIN = st.text().filter(lambda text: use_tool._json(text) == json.dumps(text, ensure_ascii=False))
VALUES = st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | PLAIN
NESTED = VALUES | st.lists(VALUES | st.none(), max_size=3) | st.dictionaries(st.text(), VALUES | st.none(), max_size=3)


@given(st.sampled_from(["f", "writeToFile"]), st.dictionaries(KEYS, NESTED, max_size=5))
def test_the_writers_block_read_by_the_reader_gives_the_call_back(name: str, sent: dict[str, Any]) -> None:
    read = use_tool.read(use_tool.write(name, json.dumps(sent)))
    assert read is not None
    assert read.name == name
    assert json.loads(read.arguments) == sent


@given(st.text())
def test_whatever_the_arguments_are_a_block_is_written_that_can_be_read(text: str) -> None:
    read = use_tool.read(use_tool.write("f", text))
    assert read is not None
    assert read.name == "f"


TAGS = st.sampled_from(["<a>", "</a>", "<name>", "</name>", "<<", ">>", "{", "}", "[", "1", '"', "\n", "&lt;"])


@given(st.lists(TAGS | st.text(max_size=5), max_size=12).map("".join))
def test_whatever_is_in_a_block_its_arguments_are_json(text: str) -> None:
    read = use_tool.read(f"<use_tool><name>f</name><b>{text}</b>{text}</use_tool>")
    assert read is not None
    json.loads(read.arguments)
