"""Everything that the mock sends, and everything that it accepts, is what `schemas/codex/<version>` says."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from wireproof_fidelity.everything import Said, sessions, sort
from wireproof_fidelity.recording import read_recording
from wireproof_fidelity.replaying import Replay, model_of, received_lines
from wireproof_fidelity.table import load_replays, recording_file

from wireproof_codex.methods.table import METHODS
from wireproof_codex.versions.version import VERSIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from wireproof_fidelity.table import Replayed

FOLDER = Path(__file__).parents[3] / "schemas" / "codex"
WRITTEN = tuple(number for number in VERSIONS if (FOLDER / number).is_dir())
FILES = ("answer", "client", "error", "notification", "request", "result", "shared")
FILE_OF = {"accepted": "client"}
"""Where what is said is described, if not in the file of its own name."""
OTHER_WORDS = {"agentMessageDelta", "agentMessage", "tokenCount"}
"""Notifications in the words of another dialect: no version knows them."""
OVERLOOKED = {"unknownField"}
"""Parameters that recorded clients sent to see that they are overlooked, as are those that came with later versions."""
REPLAYED = [row for row in load_replays().rows if row.version in WRITTEN and row.verdict != "not replayed"]


def _schema(version: str, file: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((FOLDER / version / f"{file}.json").read_text(encoding="utf-8"))
    return schema


@cache
def _fast_registry(version: str) -> jsonschema_rs.Registry:
    return jsonschema_rs.Registry([(schema["$id"], schema) for schema in (_schema(version, file) for file in FILES)])


@cache
def _is_valid(version: str, file: str, method: str) -> Callable[[Any], bool]:
    """What tells whether a value is right; what is wrong with one, the slower validator says."""
    place = {"$ref": _place(version, file, method)}
    return jsonschema_rs.Draft202012Validator(place, registry=_fast_registry(version)).is_valid


@cache
def _registry(version: str) -> Registry[Any]:
    schemas = [_schema(version, file) for file in FILES]
    found: Registry[Any] = Registry().with_resources(
        [(schema["$id"], Resource.from_contents(schema)) for schema in schemas]
    )
    return found.crawl()


@cache
def _validator(version: str, file: str, method: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": _place(version, file, method)}, registry=_registry(version))


def _place(version: str, file: str, method: str) -> str:
    """Where the schema of a method stands."""
    place = f"#/$defs/{method.replace('~', '~0').replace('/', '~1')}" if file != "error" else ""
    return f"https://wireproof.invalid/schemas/codex/{version}/{file}.json{place}"


def _faults(version: str, messages: Iterable[Said]) -> list[str]:
    """What is wrong with the messages, each once."""
    return list(dict.fromkeys(fault for said in messages for fault in _faults_of(version, said)))


def _faults_of(version: str, said: Said) -> Iterator[str]:
    file = FILE_OF.get(said.kind, said.kind)
    if said.method in OTHER_WORDS:
        return
    if file != "error" and said.method not in _schema_of(version, file)["$defs"]:
        yield f"{file} has no {said.method}"
        return
    value = _read(version, said.value) if said.kind == "accepted" else said.value
    if _is_valid(version, file, said.method)(value):
        return
    for error in _validator(version, file, said.method).iter_errors(value):
        yield f"{file} {said.method} {error.json_path}: {error.message:.300}"


def _read(version: str, request: Any) -> Any:
    """A request without the parameters that the version overlooks."""
    given = (request.get("params") or {}).items()
    taken = VERSIONS[version].requests.params.fields(request["method"])
    params = {name: value for name, value in given if name in taken}
    return {**request, "params": params} if "params" in request else request


@cache
def _schema_of(version: str, file: str) -> Mapping[str, Any]:
    return _schema(version, file)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("version", WRITTEN)
def test_a_schema_is_sound_and_named_after_its_file(version: str, file: str) -> None:
    schema = _schema(version, file)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"https://wireproof.invalid/schemas/codex/{version}/{file}.json"
    assert schema["title"] == file
    assert {path.stem for path in (FOLDER / version).iterdir()} == set(FILES)
    resolver = _registry(version).resolver(schema["$id"])
    for reference in set(re.findall(r'"\$ref": "([^"]+)"', json.dumps(schema))):
        assert resolver.lookup(reference).contents


@pytest.mark.parametrize("version", WRITTEN)
def test_everything_that_scripts_make_the_mock_say_is_described(version: str) -> None:
    found = list(sessions(version))
    assert len(found) > 80
    assert {name: faults for name, said in found if (faults := _faults(version, said))} == {}
    assert {said.kind for _, messages in found for said in messages} >= {"notification", "result", "accepted"}


@pytest.mark.parametrize("version", sorted({row.version for row in REPLAYED}))
def test_everything_that_recorded_clients_make_the_mock_say_is_described(version: str, tmp_path: Path) -> None:
    for number, row in enumerate(row for row in REPLAYED if row.version == version):
        home = tmp_path / str(number)
        home.mkdir()
        assert _faults(version, sort(_replayed(row, home))) == [], row.name


def _replayed(row: Replayed, home: Path) -> list[tuple[bool, Any]]:
    """What the client of a recording sends to the mock, and what that says, in their order."""
    lines = read_recording(recording_file(row.name))
    earlier = read_recording(recording_file(f"{row.version}/{row.after}")) if row.after else []
    model = model_of(row, [*earlier, *lines])
    replay = Replay(model, VERSIONS[row.version], received_lines(earlier), home if earlier else None)
    for line in earlier:
        if line.sent and line.message is not None:
            replay.send(line.message)
    replay.restart(received_lines(lines))
    session: list[tuple[bool, Any]] = []
    for line in lines:
        if line.sent and line.message is not None and replay.exit is None:
            before = len(replay.received)
            replay.send(line.message)
            session += [(True, line.message), *((False, message) for message in replay.received[before:])]
    return session


@pytest.mark.parametrize("version", WRITTEN)
def test_what_the_mock_serves_and_checks_is_described(version: str) -> None:
    described = _schema(version, "client")["$defs"]
    served = set(METHODS) & set(VERSIONS[version].requests.methods)
    assert served <= described.keys()
    for method in served:
        taken = VERSIONS[version].requests.params
        if "untagged" in taken.types.get(taken.methods[method], {}):
            continue  # one of several objects, of which the schema has all fields
        params = described[method]["properties"]["params"]
        assert params["properties"].keys() <= taken.fields(method).keys(), method
        needed = taken.types.get(taken.methods[method], {}).get("needed", ())
        assert set(params.get("required", ())) == set(needed), method


@pytest.mark.parametrize("version", WRITTEN)
def test_what_no_version_says_is_refused(version: str) -> None:
    said = next(said for _, messages in sessions(version) for said in messages if said.method == "turn/started")
    assert _faults(version, [said]) == []
    more = Said(said.kind, said.method, {**said.value, "params": {**said.value["params"], "more": 1}})
    less = Said(said.kind, said.method, {**said.value, "params": {"threadId": "t"}})
    assert "Additional properties are not allowed ('more' was unexpected)" in _faults(version, [more])[0]
    assert "'turn' is a required property" in _faults(version, [less])[0]
    assert _faults(version, [Said("notification", "no/such", {})]) == ["notification has no no/such"]
