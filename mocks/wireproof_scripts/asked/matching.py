"""Whether a condition holds, why it does not, and which scripts are never chosen because of others."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from wireproof_scripts.asked.header_keys import MASK, masked_header
from wireproof_scripts.steps.when import NESTED, Span, When, Words, condition

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wireproof_scripts.asked.request import AskedTurn
    from wireproof_scripts.steps import Script

_LONGEST_SHOWN = 60
_LEAVES = tuple(field.name for field in fields(When) if field.name not in {*NESTED.values(), "header", "tool"})
_ASKED = {"system": "developer", "request": "number"}
"""The field of a condition → that of `AskedTurn`, where they differ."""
_SUBJECTS: Mapping[str, str] = {
    "text": "the last message of the user",
    "system": "the system text",
    "model": "the model",
    "result": "the tool result at the end",
    "result_of": "the tool of the result at the end",
    "turn": "the number of the turn",
    "results": "the number of tool results",
    "request": "the number of the request",
    "digest": "the digest of the conversation",
}


def why_not(when: When, asked: AskedTurn) -> str:
    """Why a condition does not hold; "" if it does."""
    return next(filter(None, _reasons(when, asked)), "")


def _reasons(when: When, asked: AskedTurn) -> Iterator[str]:
    for name in _LEAVES:
        rule = getattr(when, name)
        if rule is not None:
            yield _of_leaf(name, rule, asked)
    if when.tool is not None and not any(when.tool.fit(str(tool.get("name"))) for tool in asked.tools):
        yield f"no declared tool {when.tool}"
    for name, rule in (when.header or {}).items():
        yield _of_header(name, rule, asked)
    yield from (why_not(inner, asked) for inner in when.all)
    if when.any:
        whys = [why_not(inner, asked) for inner in when.any]
        yield f"none of `any` holds: {'; '.join(whys)}" if all(whys) else ""
    for inner in when.none:
        yield "" if why_not(inner, asked) else f"it is what `not` excludes: {described(inner)}"


def _of_leaf(name: str, rule: Words | Span, asked: AskedTurn) -> str:
    value = getattr(asked, _ASKED.get(name, name))
    subject = _SUBJECTS[name]
    if value is None:
        return f"{subject} is not there"
    return "" if rule.fit(value) else f"{subject}, {_seen(value)}, {rule.unfit}"


def _of_header(name: str, rule: Words, asked: AskedTurn) -> str:
    value = (asked.headers or {}).get(name)
    if value is None:
        return f"the header {name} is missing"
    # What is said here stands in journals.
    seen = "" if MASK in masked_header(name, value) else f", {_seen(value)},"
    return "" if rule.fit(value) else f"the header {name}{seen} {rule.unfit}"


def _seen(value: str | int) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def described(when: When) -> str:
    """A condition as a sentence without its end."""
    said = [f"{_SUBJECTS[name]} {rule}" for name in _LEAVES if (rule := getattr(when, name)) is not None]
    said += [f"a declared tool {when.tool}"] if when.tool is not None else []
    said += [f"the header {name} {rule}" for name, rule in (when.header or {}).items()]
    said += [described(inner) for inner in when.all]
    said += [f"({' or '.join(map(described, when.any))})"] if when.any else []
    return " and ".join([*said, *(f"not ({described(inner)})" for inner in when.none)]) or "always"


# Which scripts hide others


def hidden(scripts: Iterable[Script]) -> Iterator[tuple[Script, Script]]:
    """The scripts that no text can choose, each with an earlier one that holds whenever it does."""
    before: list[Script] = []
    for script in scripts:
        if script.when is not None:
            own = condition(script.when)
            # Only what is sure: conditions of which neither is part of the other may hold together, too.
            first = next((one for one in before if one.when is not None and implies(own, condition(one.when))), None)
            if first is not None:
                yield script, first
            before.append(script)


def implies(one: When, other: When) -> bool:
    """Whether `other` holds whenever `one` does, as far as their words show."""
    if one.any:
        rest = replace(one, any=())
        return all(implies(replace(rest, all=(*one.all, inner)), other) for inner in one.any)
    return _implied(tuple(_facts(one)), other)


def _facts(when: When) -> Iterator[When]:
    """A condition as conditions that all hold, as far as it can be taken apart."""
    yield when
    for inner in when.all:
        yield from _facts(inner)


def _implied(facts: tuple[When, ...], other: When) -> bool:
    rules = {name: rule for name in (*_LEAVES, "tool") if (rule := getattr(other, name)) is not None}
    return (
        all(any(_stronger(getattr(fact, name), rule) for fact in facts) for name, rule in rules.items())
        and all(
            any(_stronger((fact.header or {}).get(name), rule) for fact in facts)
            for name, rule in (other.header or {}).items()
        )
        and all(_implied(facts, inner) for inner in other.all)
        and (not other.any or any(_implied(facts, inner) for inner in other.any))
        and all(any(inner in fact.none for fact in facts) for inner in other.none)
    )


def _stronger(one: Words | Span | None, other: Words | Span) -> bool:
    """Whether what keeps `one` keeps `other`, too."""
    match one, other:
        case Span(first, last), Span(least, most):
            return least <= first and (most is None or (last is not None and last <= most))
        case Words("contains", said), Words("contains", text):
            return text.casefold() in said.casefold()
        case Words("is", said), Words():
            return other.fit(said)
    return one == other
