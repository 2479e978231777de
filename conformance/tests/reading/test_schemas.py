"""The schemas against the types of the `openai` package: fields, requiredness and literals must agree both ways.

Both sides are flattened to path → what may stand there ("choices[].index": integer, required), then compared.
Where they differ on purpose, `STRICTER` holds the difference and the reason.
"""

from __future__ import annotations

import copy
import json
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin

import pytest
from jsonschema import Draft202012Validator
from openai.pagination import SyncPage
from openai.types import ErrorObject, Model
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from published_types import discriminator, members
from pydantic import BaseModel

from wireproof.reading import schemas
from wireproof.reading.schemas import UnknownSchemaError, errors, faults, names, root
from wireproof.wire.violation import MemberFault, Members

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parents[3]
OPENAI = ("chat.completion", "chat.completion.chunk", "error", "model", "model.list")

Atoms = dict[str, frozenset[str]]
Steps = tuple[str | int, ...]


class Pair(NamedTuple):
    schema: str
    inside: tuple[str, ...]
    type: type[BaseModel]


PAIRS = [
    Pair("chat.completion", (), ChatCompletion),
    Pair("chat.completion.chunk", (), ChatCompletionChunk),
    Pair("error", ("error",), ErrorObject),
    Pair("model", (), Model),
    Pair("model.list", (), SyncPage[Model]),
]
NULL_BREAKS = "measured: openai-python .stream raises when a later delta carries these as null"
STRICTER: dict[str, dict[str, tuple[frozenset[str], str]]] = {
    "chat.completion.chunk": {
        "choices[].delta.tool_calls[].id": (frozenset({"string"}), NULL_BREAKS),
        "choices[].delta.tool_calls[].type": (frozenset({'"function"'}), NULL_BREAKS),
        "choices[].delta.tool_calls[].function": (frozenset({"object"}), NULL_BREAKS),
        "choices[].delta.tool_calls[].function.name": (frozenset({"string"}), NULL_BREAKS),
        "choices[].delta.tool_calls[].function.arguments": (
            frozenset({"string"}),
            "measured: null breaks concatenation",
        ),
    },
    "error": {
        "param": (frozenset({"string", "null", "required"}), "the contract wants all four fields present"),
        "code": (frozenset({"string", "null", "required"}), "the contract wants all four fields present"),
    },
    "model.list": {"object": (frozenset({'"list"', "required"}), "the page type is shared; a list says list")},
}


# --- flattening ---------------------------------------------------------------------------------------------------


PRIMITIVES = {str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null"}


def of_type(kind: Any, path: str = "", mark: frozenset[str] = frozenset()) -> Atoms:
    """What the published type allows."""
    found: Atoms = {}
    atoms = set(mark)
    alternatives = list(members(kind))
    models = [one for one in alternatives if isinstance(one, type) and issubclass(one, BaseModel)]
    for one in alternatives:
        origin = get_origin(one)
        if one in models:
            atoms.add("object")
            suffix = f"<{discriminator(one)}>" if len(models) > 1 else ""
            for name, field in one.model_fields.items():
                below = frozenset({"required"} if field.is_required() else ())
                found |= of_type(field.annotation, f"{path}{suffix}.{name}".lstrip("."), below)
        elif origin is list:
            atoms.add("array")
            found |= of_type(get_args(one)[0], f"{path}[]")
        elif origin is dict:
            atoms.add("map")
            found |= of_type(get_args(one)[1], f"{path}{{}}")
        elif origin is Literal:
            atoms |= {json.dumps(value) for value in get_args(one)}
        else:
            atoms.add(PRIMITIVES[one])
    return {path: plain(atoms), **found}


def plain(atoms: set[str]) -> frozenset[str]:
    """Literals beside their own type say nothing more."""
    return frozenset(atom for atom in atoms if not (atom.startswith('"') and "string" in atoms))


def of_schema(schema: dict[str, Any], file: str, path: str = "", mark: frozenset[str] = frozenset()) -> Atoms:
    """What our schema allows."""
    if "$ref" in schema:
        target, where = resolve(schema["$ref"], file)
        return of_schema(target, where, path, mark)
    if "if" in schema:
        branches = [resolve(schema[word]["$ref"], file)[0] for word in ("then", "else")]
        found: Atoms = {}
        for branch in branches:
            found |= of_schema(branch, file, f"{path}<{branch['properties']['type']['const']}>")
        return {**{k: v for k, v in found.items() if not k.endswith(">")}, path: frozenset({"object"}) | mark}
    atoms = set(mark) | {json.dumps(value) if value is not None else "null" for value in literals(schema)}
    kinds = schema.get("type", [])
    atoms |= {kinds} if isinstance(kinds, str) else set(kinds)
    below: Atoms = {}
    for name, field in schema.get("properties", {}).items():
        needed = frozenset({"required"} if name in schema.get("required", ()) else ())
        below |= of_schema(field, file, f"{path}.{name}".lstrip("."), needed)
    if isinstance(schema.get("additionalProperties"), dict):
        atoms = atoms - {"object"} | {"map"}
        below |= of_schema(schema["additionalProperties"], file, f"{path}{{}}")
    if "items" in schema:
        below |= of_schema(schema["items"], file, f"{path}[]")
    return {path: frozenset(atoms), **below}


def literals(schema: dict[str, Any]) -> list[Any]:
    return [schema["const"]] if "const" in schema else list(schema.get("enum", []))


def resolve(reference: str, file: str) -> tuple[dict[str, Any], str]:
    name, _, pointer = reference.partition("#")
    file = name or file
    node = load(file)
    for step in pointer.split("/")[1:]:
        node = node[step]
    return node, file


def load(file: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((REPOSITORY / "schemas" / "openai" / file).read_text(encoding="utf-8"))
    return content


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.schema)
def test_fields_requiredness_and_literals_are_those_of_the_published_types(pair: Pair) -> None:
    schema, file = load(f"{pair.schema}.json"), f"{pair.schema}.json"
    for name in pair.inside:
        schema, file = resolve(schema["properties"][name]["$ref"], file)
    ours, theirs = of_schema(schema, file), of_type(pair.type)
    ours[""] = theirs[""] = frozenset()
    stricter = {path: atoms for path, (atoms, _) in STRICTER.get(pair.schema, {}).items()}
    assert all(theirs[path] != atoms for path, atoms in stricter.items()), "an exception that is none any more"
    assert ours == theirs | stricter


# --- samples ------------------------------------------------------------------------------------------------------


TOKEN = {"token": "é", "bytes": [195, 169], "logprob": -0.5}
LOGPROBS = {"content": [{**TOKEN, "top_logprobs": [TOKEN]}], "refusal": [{**TOKEN, "top_logprobs": [TOKEN]}]}
RESULT = {
    "categories": {"violence": False},
    "category_applied_input_types": {"violence": ["text", "image"]},
    "category_scores": {"violence": 0.25},
    "flagged": False,
    "model": "moderator",
    "type": "moderation_result",
}
MODERATED = {"model": "moderator", "results": [RESULT], "type": "moderation_results"}
NOT_MODERATED = {"code": "timeout", "message": "too late", "type": "error"}
MODERATION = {"input": MODERATED, "output": NOT_MODERATED}
OTHER_MODERATION = {"input": NOT_MODERATED, "output": MODERATED}
USAGE = {
    "prompt_tokens": 1234,
    "completion_tokens": 56,
    "total_tokens": 1290,
    "prompt_tokens_details": {
        "cached_tokens": 1000,
        "audio_tokens": 0,
        "cache_write_tokens": 0,
        "image_tokens": 0,
        "text_tokens": 1234,
    },
    "completion_tokens_details": {
        "reasoning_tokens": 7,
        "audio_tokens": 0,
        "accepted_prediction_tokens": 0,
        "rejected_prediction_tokens": 0,
        "text_tokens": 49,
    },
}
WHOLE: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1700000000,
    "model": "codex",
    "service_tier": "default",
    "system_fingerprint": "fp",
    "metadata": {"run": "1"},
    "moderation": MODERATION,
    "usage": USAGE,
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "logprobs": LOGPROBS,
            "message": {
                "role": "assistant",
                "content": None,
                "refusal": None,
                "annotations": [
                    {
                        "type": "url_citation",
                        "url_citation": {"start_index": 0, "end_index": 4, "title": "T", "url": "https://example.org"},
                    }
                ],
                "audio": {"id": "a", "data": "AA==", "expires_at": 1700000000, "transcript": "hm"},
                "function_call": {"name": "read", "arguments": "{}"},
                "tool_calls": [
                    {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": '{"a": 1.50}'}},
                    {"id": "call_2", "type": "custom", "custom": {"name": "shell", "input": "ls"}},
                ],
            },
        }
    ],
}
CHUNK: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion.chunk",
    "created": 1700000000,
    "model": "codex",
    "service_tier": "default",
    "system_fingerprint": "fp",
    "obfuscation": "xx",
    "moderation": MODERATION,
    "usage": USAGE,
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "logprobs": LOGPROBS,
            "delta": {
                "role": "assistant",
                "content": "Hello",
                "refusal": "no",
                "function_call": {"name": "read", "arguments": "{}"},
                "tool_calls": [
                    {"index": 0, "id": "call_1", "type": "function", "function": {"name": "read", "arguments": ""}}
                ],
                "audio": {"id": "a", "data": "AA==", "expires_at": 1700000000, "transcript": "hm"},
            },
        }
    ],
}
HEAD = {key: CHUNK[key] for key in ("id", "object", "created", "model")}
ERROR: dict[str, Any] = {
    "error": {
        "message": "No.",
        "type": "invalid_request_error",
        "param": "n",
        "code": "too_many",
        "misalignment": {
            "detailed_explanation": "d",
            "error_type": "other",
            "review_target": "t",
            "steer": {"message": "m"},
        },
    }
}
MODEL = {"id": "codex", "object": "model", "created": 1700000000, "owned_by": "openai", "shutdown_date": "2027-01-01"}
FULL: dict[str, list[dict[str, Any]]] = {
    "chat.completion": [WHOLE, {**WHOLE, "moderation": OTHER_MODERATION}],
    "chat.completion.chunk": [CHUNK, {**CHUNK, "moderation": OTHER_MODERATION}],
    "error": [ERROR],
    "model": [MODEL],
    "model.list": [{"object": "list", "data": [MODEL]}],
}
"""Samples of each schema that say, together, every field there is."""
ALSO_VALID = [
    ("chat.completion.chunk", {**HEAD, "choices": [], "usage": USAGE}),
    ("chat.completion.chunk", {**HEAD, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": None}),
    ("chat.completion.chunk", {**HEAD, "choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]}),
    ("chat.completion.chunk", {**HEAD, "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 1}]}}]}),
    (
        "chat.completion",
        {
            **HEAD,
            "object": "chat.completion",
            "choices": [{"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": ""}}],
        },
    ),
    ("error", {"error": {"message": "No.", "type": "server_error", "param": None, "code": None}}),
    ("model.list", {"object": "list", "data": []}),
]
VALID = [*((name, sample) for name, samples in FULL.items() for sample in samples), *ALSO_VALID]
TYPES = {pair.schema: pair for pair in PAIRS}
VALID_IDS = [f"{name}-{number}" for number, (name, _) in enumerate(VALID)]


@pytest.mark.parametrize(("name", "sample"), VALID, ids=VALID_IDS)
def test_a_sample_that_is_valid_here_parses_there(name: str, sample: dict[str, Any]) -> None:
    assert errors(name, sample) == []
    pair = TYPES[name]
    for step in pair.inside:
        sample = sample[step]
    pair.type.model_validate(sample, strict=True)


def spots(value: Any, path: Steps = ()) -> Iterator[Steps]:
    """The place of every value in a value."""
    yield path
    children: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in children:
        yield from spots(inner, (*path, step))


def changed(value: Any, path: Steps, new: Any) -> Any:
    """A copy with another value at a place."""
    if not path:
        return new
    result = copy.copy(value)
    result[path[0]] = changed(value[path[0]], path[1:], new)
    return result


def at(value: Any, path: Steps) -> Any:
    for step in path:
        value = value[step]
    return value


def pointer(path: Steps) -> str:
    return "".join(f"/{step}" for step in path) or "the body"


OPEN_MAPS = ("metadata", "categories", "category_applied_input_types", "category_scores")
FORKS = ("message.tool_calls[]", "moderation.input", "moderation.output")


def spelt(sample: Any, path: Steps) -> str:
    """A place as the flattened schemas spell it."""
    text = ""
    for number, step in enumerate(path):
        if text.endswith(FORKS):
            text += f"<{at(sample, path[:number])['type']}>"
        text += "[]" if isinstance(step, int) else "{}" if text.endswith(OPEN_MAPS) else f".{step}"
    return text.lstrip(".")


@pytest.mark.parametrize("name", OPENAI)
def test_the_full_samples_say_every_field(name: str) -> None:
    said = {spelt(sample, path) for sample in FULL[name] for path in spots(sample)}
    assert said == set(of_schema(load(f"{name}.json"), f"{name}.json"))


@pytest.mark.parametrize("name", OPENAI)
def test_a_value_of_another_type_fails_at_its_place(name: str) -> None:
    for sample in FULL[name]:
        for path in spots(sample):
            wrong: Any = "7" if isinstance(at(sample, path), int | float) else 0.5
            found = errors(name, changed(sample, path, wrong))
            assert any(one.startswith(f"{pointer(path)}: is ") for one in found), (pointer(path), found)


@pytest.mark.parametrize("name", OPENAI)
def test_an_unpublished_field_fails_at_its_place(name: str) -> None:
    for sample in FULL[name]:
        for path in spots(sample):
            value = at(sample, path)
            if isinstance(value, dict) and not pointer(path).endswith(OPEN_MAPS):
                found = errors(name, changed(sample, path, {**value, "reasoning_content": "hm"}))
                assert found == [f"{pointer(path)}: reasoning_content is not among the published fields"]


@pytest.mark.parametrize("name", OPENAI)
def test_a_missing_field_fails_exactly_where_it_is_required(name: str) -> None:
    required = {path for path, atoms in of_schema(load(f"{name}.json"), f"{name}.json").items() if "required" in atoms}
    assert {
        spelt(sample, path) for sample in FULL[name] for path in spots(sample) if missed(name, sample, path)
    } == required


def missed(name: str, sample: Any, path: Steps) -> bool:
    """Whether a sample without this field is refused, and for that."""
    if not path or not isinstance(path[-1], str):
        return False
    above, field = path[:-1], path[-1]
    less = {key: value for key, value in at(sample, above).items() if key != field}
    found = errors(name, changed(sample, above, less))
    said = [one for one in found if one.startswith(f"{pointer(above)}: ") and one.endswith(" missing")]
    assert bool(found) == any(field in one for one in said), found
    return bool(found)


FINISH = '"stop", "length", "tool_calls", "content_filter", "function_call"'
NEIGHBOURS = [
    (
        "chat.completion.chunk",
        changed(CHUNK, ("created",), 1700000000.0),
        "/created: is 1700000000.0, should be integer",
    ),
    ("chat.completion.chunk", {**CHUNK, "created": True}, "/created: is true, should be integer"),
    ("chat.completion.chunk", {**HEAD, "usage": USAGE}, "the body: choices is missing"),
    ("chat.completion.chunk", {"choices": []}, "the body: id and object and created and model are missing"),
    (
        "chat.completion.chunk",
        changed(CHUNK, ("choices", 0, "delta", "tool_calls", 0, "id"), None),
        "/choices/0/delta/tool_calls/0/id: is null, should be string",
    ),
    (
        "chat.completion.chunk",
        changed(CHUNK, ("choices", 0, "delta", "tool_calls", 0, "index"), "0"),
        '/choices/0/delta/tool_calls/0/index: is "0", should be integer',
    ),
    (
        "chat.completion",
        changed(WHOLE, ("choices", 0, "finish_reason"), None),
        f"/choices/0/finish_reason: is null, should be one of {FINISH}",
    ),
    ("chat.completion", changed(WHOLE, ("object",), "list"), '/object: is "list", should be "chat.completion"'),
    ("chat.completion", changed(WHOLE, ("choices", 0, "index"), -1), "/choices/0/index: is -1, should be at least 0"),
    ("chat.completion", changed(WHOLE, ("metadata",), {"a/b~c": 1}), "/metadata/a~1b~0c: is 1, should be string"),
    ("error", changed(ERROR, ("error", "message"), ""), "/error/message: is empty"),
    ("error", changed(ERROR, ("error", "code"), 400), "/error/code: is 400, should be string or null"),
    ("error", {"error": "No."}, '/error: is "No.", should be object'),
    ("error", "x" * 100, f'the body: is "{"x" * 59}…, should be object'),
    ("wireproof/requirement", {"hint": " "}, None),
]


@pytest.mark.parametrize(("name", "broken", "sentence"), NEIGHBOURS, ids=[f"{n}-{s}" for n, _, s in NEIGHBOURS])
def test_a_broken_neighbour_is_refused_in_words(name: str, broken: Any, sentence: str | None) -> None:
    found = errors(name, broken)
    assert found[0] == (sentence or found[0])
    assert all(": " in one for one in found)


@pytest.mark.parametrize(
    ("broken", "fault", "named"),
    [
        ({"choices": []}, MemberFault.MISSING, ("id", "object", "created", "model")),
        ({**CHUNK, "b": 1, "a": 2}, MemberFault.EXTRA, ("a", "b")),
        (changed(CHUNK, ("created",), "now"), MemberFault.MISTYPED, ("created",)),
        (changed(CHUNK, ("object",), "list"), MemberFault.MISTYPED, ("object",)),
        (changed(CHUNK, ("choices", 0, "finish_reason"), "end"), MemberFault.MISTYPED, ("finish_reason",)),
        (changed(CHUNK, ("choices", 0, "index"), -1), MemberFault.MISTYPED, ("index",)),
    ],
)
def test_a_fault_is_about_members(broken: Any, fault: MemberFault, named: tuple[str, ...]) -> None:
    assert faults("chat.completion.chunk", broken)[0].about == Members(fault=fault, names=named)


@pytest.mark.parametrize(
    ("name", "broken"), [("error", "no object"), ("error", changed(ERROR, ("error", "message"), ""))]
)
def test_a_fault_of_the_value_itself_is_about_no_member(name: str, broken: Any) -> None:
    assert faults(name, broken)[0].about is None


def test_a_keyword_without_words_of_its_own_shows_the_validator_s_message_cut() -> None:
    assert "/hint: ' ' does not match '\\\\S'" in errors("wireproof/requirement", {"hint": " "})


# --- the files ----------------------------------------------------------------------------------------------------


def test_all_names_are_listed() -> None:
    assert {"wireproof/requirement", *(f"openai/{name}" for name in OPENAI)} <= set(names())


@pytest.mark.parametrize("name", ["wireproof/requirement", *(f"openai/{name}" for name in OPENAI)])
def test_a_schema_is_sound_and_named_after_its_file(name: str) -> None:
    schema: dict[str, Any] = json.loads((REPOSITORY / "schemas" / f"{name}.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"https://wireproof.invalid/schemas/{name}.json"
    assert f"{name.rpartition('/')[2]}" == schema["title"]


@pytest.mark.parametrize("name", OPENAI)
def test_every_object_is_closed(name: str) -> None:
    schema = load(f"{name}.json")
    for path in spots(schema):
        node = at(schema, path)
        if isinstance(node, dict) and "object" in (node.get("type") or ()) and "properties" in node:
            assert node["additionalProperties"] is False, pointer(path)


def test_an_unknown_schema_gets_the_close_names() -> None:
    with pytest.raises(UnknownSchemaError, match=r"no schema 'openai/chat\.completio'; did you mean openai/chat"):
        errors("chat.completio", {})


def test_an_unknown_schema_far_from_all_gets_no_advice() -> None:
    with pytest.raises(UnknownSchemaError, match=r"^no schema 'zzz/zzz'$"):
        errors("zzz/zzz", {})


def test_an_installed_package_has_its_schemas_inside(tmp_path: Path) -> None:
    inside = tmp_path / "site-packages" / "wireproof" / "_data" / "schemas"
    inside.mkdir(parents=True)
    (tmp_path / "schemas").mkdir()
    assert root(tmp_path / "site-packages" / "wireproof") == inside


def test_a_checkout_has_its_schemas_at_the_top(tmp_path: Path) -> None:
    (tmp_path / "schemas").mkdir()
    (tmp_path / "conformance" / "wireproof").mkdir(parents=True)
    assert root(tmp_path / "conformance" / "wireproof") == tmp_path / "schemas"


def test_a_package_without_schemas_says_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="the installation of wireproof is not complete"):
        root(tmp_path / "conformance" / "wireproof")


def test_a_folder_of_schemas_may_hold_some_without_an_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "number.json").write_text('{"type": "number"}', encoding="utf-8")
    (tmp_path / "odd" / "note.txt").write_text("no schema", encoding="utf-8")
    monkeypatch.setattr(schemas, "root", lambda: tmp_path)
    assert names() == ("odd/number",)
    assert errors("odd/number", "1") == ['the body: is "1", should be number']
