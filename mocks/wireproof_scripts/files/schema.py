"""The JSON Schema of scripts and script files, made from the definitions of the steps.

The reader (`json_form`) is stricter where a rule spans fields (the pieces of a call are its arguments) or JSON Schema
cannot express it (`kinds`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_scripts.files.conditions import condition_schema
from wireproof_scripts.files.definitions import DEFINITIONS, description, field_descriptions
from wireproof_scripts.kinds import END, TEXT, kind_of
from wireproof_scripts.markers import SCRIPT_NAME
from wireproof_scripts.steps import Notifications, Script, Sequence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_scripts.files.definitions import Definition

Schema = dict[str, Any]


def schema() -> Schema:
    """The schema: of one script; `#/$defs/file` is that of a file."""
    steps = {name: _step(definition) for name, definition in DEFINITIONS.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://wireproof.invalid/schemas/wireproof/script.json",  # never resolves: nothing is fetched
        "title": "Script",
        "description": "What a mock backend sends, step by step, one part per turn. A script file is `#/$defs/file`.",
        "$ref": "#/$defs/script",
        "$defs": {
            "file": {"anyOf": [_closed({"scripts": _ref("scripts")}, ["scripts"]), _ref("scripts")]},
            "scripts": _list(_ref("script")),
            "script": _script(),
            "parts": {
                "description": "One part per turn, each a list of steps.",
                **_list({"type": "array", "items": _ref("step")}),  # a part may be empty: a turn that says nothing
            },
            "condition": condition_schema(),
            "step": {"anyOf": [*map(_ref, steps), _bare_names()]},
            **steps,
        },
    }


def file_schema() -> Schema:
    """The schema of a file, for editors."""
    about = "A file of scripts: what a mock backend sends, and when."
    name = "https://wireproof.invalid/schemas/wireproof/scripts.json"
    return {**schema(), "$id": name, "title": "Scripts", "description": about, "$ref": "#/$defs/file"}


def _script() -> Schema:
    about = field_descriptions(Script)
    either = [{"required": ["parts"]}, {"required": ["choices"]}]
    script = _closed(
        {
            "name": {"description": about["name"], "type": "string", "pattern": f"^{SCRIPT_NAME}{END}"},
            "title": {"description": about["title"], **TEXT.schema},
            "when": {"description": about["when"], "anyOf": [_ref("condition"), {"type": "null"}]},
            "notifications": {"description": about["notifications"], **kind_of(Notifications).schema},
            "sequence": {"description": about["sequence"], **kind_of(Sequence).schema},
            "parts": _ref("parts"),
            "choices": {"description": about["choices"], **_list(_ref("parts"))},
        },
        ["name"],
    )
    return {**script, "anyOf": either}


def _step(definition: Definition) -> Schema:
    """A step in its long form, `{"say": {"pieces": …}}`, and with a bare value, `{"say": …}`."""
    about = field_descriptions(definition.step)
    properties = {
        name: {"description": about[name], **(_or_null(field.kind.schema) if field.nullable else field.kind.schema)}
        for name, field in definition.fields.items()
    }
    required = [field.name for field in definition.fields.values() if field.required]
    forms = [_closed(properties, required)]
    if definition.first is not None:
        bare = definition.first.kind.schema
        forms += bare.get("anyOf", [bare])
    if definition.needs_nothing:
        forms.append({"type": "null"})  # `hang:` in YAML, without a value
    value = {"anyOf": forms} if len(forms) > 1 else forms[0]
    return {"description": description(definition.step), **_closed({definition.name: value}, [definition.name])}


def _bare_names() -> Schema:
    names = [name for name, definition in DEFINITIONS.items() if definition.needs_nothing]
    return {"description": "A step without required fields, by its name.", "enum": names}


def _closed(properties: Schema, required: list[str]) -> Schema:
    """An object with these properties and no others."""
    needed = {"required": required} if required else {}
    # Without others, as the reader has it: a misspelt field would be passed over.
    return {"type": "object", "properties": properties, **needed, "additionalProperties": False}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items, "minItems": 1}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _or_null(inner: Mapping[str, Any]) -> Schema:
    if "enum" in inner:
        return {"enum": [*inner["enum"], None]}
    if "type" not in inner:
        return {"anyOf": [*inner["anyOf"], {"type": "null"}]}
    types = inner["type"] if isinstance(inner["type"], list) else [inner["type"]]
    return {**inner, "type": [*types, "null"]}
