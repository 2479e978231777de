"""The page of the docs about the steps, their fields and the causes of failures: `docs/script-steps.md`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from wireproof_pages.markup import note, table
from wireproof_scripts.files.conditions import KINDS
from wireproof_scripts.files.definitions import DEFINITIONS, description, field_descriptions
from wireproof_scripts.steps import only_app_server, only_cursor, only_endpoint
from wireproof_scripts.steps.causes import CAUSES
from wireproof_scripts.steps.when import NESTED, When

if TYPE_CHECKING:
    from wireproof_scripts.files.definitions import Definition, Field

_HEAD = """\
# The steps of a script

A script says what the mock backend sends. It has one part per turn, a part is a list of steps, and a step is an object
with one key, its name: `{"say": {"pieces": ["Hel", "lo"], "times": 2}}`. A bare value stands for the first field if no
other one is required (`{"say": "Hello"}`), and the name alone for a step without required fields (`"hang"`). The JSON
Schema of a script file is [`schemas/wireproof/script.json`](../schemas/wireproof/script.json).
"""

_WHEN = """\
## Conditions

What may stand under `when`: a text, which the last message of the user must contain in any case, or an object of these
fields, all of which must hold. A text may be written as `{"contains": …}`, `{"is": …}`, `{"matches": …}` (a regular
expression) or `{"like": …}` (with `*` and `?`); a number as `{"from": …, "to": …}`.
"""
_CAUSES = """\
## Causes of failures

What `fail` and `error-notice` take as `cause`.
"""


def steps_page() -> str:
    """The page as Markdown."""
    sections = (_section(definition) for definition in DEFINITIONS.values())
    causes = table(("cause", "meaning"), ((f"`{name}`", meaning) for name, meaning in CAUSES.items()))
    pieces = [note("mocks/wireproof_scripts"), _HEAD, _overview(), *sections, _WHEN, _conditions(), _CAUSES, causes]
    return "\n\n".join(piece.strip() for piece in pieces) + "\n"


def _conditions() -> str:
    about = field_descriptions(When)
    rows = [(f"`{name}`", kind.expected, about[name]) for name, kind in KINDS.items()]
    rows += [(f"`{name}`", "a list of conditions", about[field]) for name, field in NESTED.items()]
    return table(("field", "value", "what it is about"), rows)


def _overview() -> str:
    """Every step in one table; a required field is bold."""
    rows = (
        (f"[`{name}`](#{name})", ", ".join(map(_shown, one.fields.values())), description(one.step).partition("\n")[0])
        for name, one in DEFINITIONS.items()
    )
    return table(("step", "fields (bold: required)", "what it does"), rows)


def _shown(field: Field) -> str:
    return f"**`{field.name}`**" if field.required else f"`{field.name}`"


def _section(definition: Definition) -> str:
    """One step in full."""
    about = description(definition.step).replace("\n", "\n\n")
    least = json.dumps(definition.shortest)
    head = f"## {definition.name}\n\n{about} At least `{least}`.\n"
    app_server, cursor = only_app_server(definition.step), only_cursor(definition.step)
    if app_server:
        head = f"{head}\nNot played by a model's service behind a real Codex: {app_server}.\n"
    if cursor:
        head = f"{head}\nPlayed by `wireproof-cursor` alone: {cursor}.\n"
    if only_endpoint(definition.step):
        head = f"{head}\nPlayed by the endpoint alone: {only_endpoint(definition.step)}.\n"
    if not definition.fields:
        return head
    meanings = field_descriptions(definition.step)
    rows = (
        (f"`{field.name}`", field.kind.expected, _default(field), meanings[field.name])
        for field in definition.fields.values()
    )
    return f"{head}\n{table(('field', 'value', 'default', 'meaning'), rows)}"


def _default(field: Field) -> str:
    if field.required:
        return "(required)"
    if field.nullable or field.default == ():
        return "(none)"
    return f"`{json.dumps(field.default)}`"
