"""Scripts for requests of several choices (`n`)."""

from __future__ import annotations

from wireproof_scripts.library.written import part
from wireproof_scripts.steps import Call, Finish, Parts, Say, Script, Usage


def _two(slug: str, title: str, first: Parts, second: Parts) -> Script:
    # A request for one choice gets the first.
    return Script(name=f"choices/{slug}", title=title, parts=first, choices=(first, second))


CHOICES: tuple[Script, ...] = (
    _two(
        "text",
        "Two choices of different text.",
        ((Say(("The first", " choice", ".")),),),
        ((Say(("And", " the", " second", " one", ".")),),),
    ),
    _two(
        "mixed",
        "A choice of text, and one that calls a tool.",
        ((Say(("Nothing", " to look up.")),),),
        ((Call(id="call_second", name="localSearch", arguments='{"query": "second choice"}'),),),
    ),
    part(
        "choices/indexed",
        "Two choices in one turn: events name their choice, and one event names none.",
        Say(("Zero", " begins"), choice=0),
        Say(("One", " begins"), choice=1),
        Say((", goes on",)),  # chat.stream.isolation: without an index it belongs to 0
        Say((", goes on",), choice=1),
        Say((", and ends.",), choice=0),
        Finish("stop", choice=0),
        Say((", and is cut",), choice=1),
        Finish("length", choice=1),
        Usage(input=40, output=23),
        notifications="story",
    ),
    _two(
        "usage",
        "Two choices with token counts of their own.",
        ((Say(("Cheap", ".")), Usage(input=100, cached=10, output=3, reasoning=1)),),
        ((Say(("Dear", ".")), Usage(input=200, cached=20, output=40, reasoning=5)),),
    ),
)
