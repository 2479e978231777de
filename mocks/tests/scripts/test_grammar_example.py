"""Texts of grammars."""

from __future__ import annotations

import re
import time

import pytest

from wireproof_scripts.default.grammar_example import of_expression, of_lark, text_of

EXPRESSIONS = [
    "",
    "^[0-9]{3}$",
    r"\d+(\.\d+)?",
    r"(?P<month>Jan|Feb) \d{1,2}(st|nd)",
    r"[^a-zA-Z]\W[\s]\S.",
    r"(a)(?P<b>x)\1{2}(?P=b)",
    r"(?i)select \w+ from [^x]",
    r"[\w.]+@[a-z]+\.(com|org)",
    "(?>ab)*+c+?",
]


@pytest.mark.each("expression", EXPRESSIONS, ids=str)
def test_a_text_is_one_of_its_expression(expression: str) -> None:
    text = of_expression(expression)
    assert text is not None
    assert re.fullmatch(expression, text)


@pytest.mark.each(
    "expression", ["a{9999}{9999}", "(?=x)x", "a^b", "x$y", "(", "[^\\s\\S]", r"\bfoo", "x" * 5000], ids=str
)
def test_of_what_cannot_be_made_there_is_none(expression: str) -> None:
    assert of_expression(expression) is None


def test_an_expression_that_would_take_years_takes_no_time() -> None:
    began = time.process_time()
    assert of_expression("(?:a|a){40}(?:(?:b+)+)+$c") is None
    assert of_expression("((a{60}){60}){60}") is None
    assert time.process_time() - began < 1


SUMS = r"""
// as in the documentation of the API
start: expr
expr: term (SP ADD SP term)* -> add
    | term
term: factor ((MUL | DIV) factor)*
?factor: NUMBER
       | "(" expr ")"
ADD: "+"
SP: " "
MUL.2: "*"
DIV: "/"
NUMBER: /\d+(\.\d+)?/
%import common.WS
%ignore WS
"""
PATCH = """
start: begin hunk+ end
begin: "*** Begin" LF
end: "*** End" LF?
hunk: "*** Add: " /(.+)/ LF ("+" /(.*)/ LF)~2 [eof]
eof: "*** End of File" LF
%import common.LF
"""
GRAMMARS = {
    SUMS: "0",
    PATCH: "*** Begin\n*** Add: a\n+\n+\n*** End",
    'start: start "a" | "b"': "b",
    'start: "SELECT"i " " name "."\n!name: "a".."z" ~ 3..5': "SELECT aaa.",
    "start: WORD /x|y/i\n%import common (INT, WORD)": "ax",
    'start: "say \\"hi\\""': 'say "hi"',
}


@pytest.mark.each("grammar", GRAMMARS, ids=str)
def test_a_text_is_the_shortest_of_its_grammar(grammar: str) -> None:
    assert of_lark(grammar) == GRAMMARS[grammar]


@pytest.mark.each(
    "grammar", ["", "start: word+", "start: start", "other: x", "start: (", "start: $", 'start: "\\x"'], ids=str
)
def test_of_what_is_no_grammar_there_is_none(grammar: str) -> None:
    assert of_lark(grammar) is None


def test_a_format_names_its_syntax() -> None:
    assert text_of({"type": "grammar", "syntax": "regex", "definition": "x+"}) == "x"
    assert text_of({"type": "grammar", "syntax": "lark", "definition": 'start: "x"'}) == "x"
    assert text_of({"type": "text"}) is None
