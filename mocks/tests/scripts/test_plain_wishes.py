"""Texts that plainly want something said, and those that only seem to."""

from __future__ import annotations

import pytest

from wireproof_scripts.default.plain_wishes import wanted


@pytest.mark.each(
    ("text", "said"),
    [
        ("Reply with exactly: OK", "OK"),
        ("reply with exactly 'hello world'", "hello world"),
        ("Say exactly pong and nothing else.", "pong"),
        ("Say 'Hello, world!' and nothing else.", "Hello, world!"),
        ("Respond with only the word PONG.", "PONG"),
        ("Please reply with the single word OK", "OK"),
        ("Reply OK", "OK"),
        ("Say 'hi there'", "hi there"),
        ("Reply with exactly the number 999.", "999"),
        ("Return just the number 42", "42"),
        ("Reply with exactly this token: abc-123. Nothing else.", "abc-123"),
        ('Return exactly: {"a": 1}', '{"a": 1}'),
        ('Return exactly this JSON: {"a": 1}', '{"a": 1}'),
        ("Output exactly the following line: x y", "x y"),
        ("Hello. Respond with exactly one word: hello", "hello"),
    ],
)
def test_words_that_are_wanted_are_said(text: str, said: str) -> None:
    assert wanted(text) == said


@pytest.mark.each(
    ("text", "result"),
    [
        ("What is 2+2?", "4"),
        ("What is 17 + 25? Reply with only the number.", "42"),
        ("what's the sum of 3 and 4?", "7"),
        ("add 5 to 7", "12"),
        ("2 plus 2 equals?", "4"),
        ("What is 12 times 12?", "144"),
        ("3 - 5", "-2"),
        ("0.1 + 0.2", "0.3"),
        ("the difference between 9 and 4", "5"),
        ("-3 * 4", "-12"),
    ],
)
def test_two_numbers_are_summed(text: str, result: str) -> None:
    assert wanted(text) == result


@pytest.mark.each(
    "text",
    [
        "Say hello",
        "Reply with a short poem.",
        "Answer only in French",
        "Return only JSON",
        "Return only the names",
        "On 2024-01-02 we met",
        "Call +41 44 555",
        "My number is 555-1234, call me",
        "You are 7-0.5",
        "We are 3 - 5 people",
        "Return exactly JSON",
        "1 + 2 + 3",
        "2 + 2 and 3 + 3",
        "Count from 1 to 5",
        "What do you say?",
        "",
        "x" * 100_000,
        "say " * 10_000,
        "9" * 100_000,
    ],
)
def test_what_only_seems_so_is_not(text: str) -> None:
    assert wanted(text) is None
