"""Everything that the mock says is valid under the schemas that the real binary of its version generates."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest
from binaries import NEWEST, VERSIONS, binary, surroundings
from jsonschema import Draft7Validator
from wireproof_fidelity.everything import Said, sessions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

OLDER_FAMILY = "codex/event/"
NONE = "no schema"
OTHER_WORDS = {"agentMessageDelta", "agentMessage", "tokenCount"}
"""Notifications in the words of another dialect: no version knows them."""
UNLISTED = {"rawResponseItem/completed", "rawResponse/completed", "getAuthStatus", "getConversationSummary"}
"""What the newest sends to who asks for raw events, and what it answers, although its schemas do not list it."""
RAW = {"rawResponseItem/completed", "codex/event/raw_response_item"}
UNTRUE = {
    "0.89.0": {
        "reasoning": "asks for an id, which the real server never tells either",
        "function_call_output": "asks for an object as the output, where the real server tells a text too",
    },
    NEWEST: {},
}
"""Raw items of which a schema says what is not so, and what that is."""
NAMES = {
    "addConversationListener": "AddConversationSubscription",
    "removeConversationListener": "RemoveConversationSubscription",
    "configRequirements/read": "ConfigRequirementsRead",
}


class Generated:
    """The schemas that a binary generates."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def faults(self, said: Said) -> Iterator[str]:
        """What is wrong with a message."""
        schema = self._schema(said)
        if schema is None:
            yield NONE
            return
        value = said.value["params"]["msg"] if said.method.startswith(OLDER_FAMILY) else said.value
        for error in Draft7Validator(schema).iter_errors(value):
            yield next(
                (inner.message for inner in error.context or () if "is a required" in inner.message), error.message
            )

    def _schema(self, said: Said) -> Any:
        if said.kind == "result":
            return self._answers.get(_answer(said.method, self._params.get(said.method, "")))
        if said.kind == "error":
            return self._read("JSONRPCError.json")
        if said.kind == "accepted":
            return self._branches("ClientRequest.json").get(said.method)
        if said.method.startswith(OLDER_FAMILY):
            return self._read("EventMsg.json")
        return self._branches("ServerRequest.json" if said.kind == "request" else "ServerNotification.json").get(
            said.method
        )

    def _read(self, name: str) -> Any:
        return json.loads((self._folder / name).read_text(encoding="utf-8"))

    @cached_property
    def _known(self) -> dict[str, Mapping[str, Any]]:
        return {}

    def _branches(self, name: str) -> Mapping[str, Any]:
        """The schema of each method, of those that a file lists."""
        if name not in self._known:
            schema = self._read(name)
            definitions = {"definitions": schema.get("definitions", {})}
            self._known[name] = {
                branch["properties"]["method"]["enum"][0]: {**branch, **definitions} for branch in schema["oneOf"]
            }
        return self._known[name]

    @cached_property
    def _params(self) -> Mapping[str, str]:
        """The name of the parameters of each request."""
        branches = self._branches("ClientRequest.json")
        return {
            method: branch["properties"]["params"]["$ref"].rpartition("/")[2]
            for method, branch in branches.items()
            if "$ref" in branch["properties"].get("params", {})
        }

    @cached_property
    def _answers(self) -> Mapping[str, Any]:
        files = self._folder.rglob("*Response.json")
        return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in files}


def _answer(method: str, params: str) -> str:
    """The name of the answer to a request."""
    name = NAMES.get(method) or params.removesuffix("Params") or method[0].upper() + method[1:]
    return f"{name}Response"


@pytest.mark.parametrize("version", VERSIONS)
def test_what_the_mock_says_is_valid_there(version: str, tmp_path: Path) -> None:
    generated = _generate(version, tmp_path)
    faults: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    checked: set[str] = set()
    for name, messages in sessions(version):
        for said in messages:
            form = f"{said.kind} {said.method} {_form(said.value)}"
            if said.kind == "answer" or said.method in OTHER_WORDS or form in checked:
                continue
            checked.add(form)
            seen[said.kind] += 1
            faults.update(
                f"{said.kind} {said.method}: {fault}, in {name}" for fault in _unknown(generated, said, version)
            )
    assert dict(faults) == {}
    assert min(seen[kind] for kind in ("notification", "result", "accepted", "request")) > 0


def _unknown(generated: Generated, said: Said, version: str) -> Iterator[str]:
    """What is wrong with a message, but for what is wrong with the schemas."""
    unlisted = version == NEWEST and said.method in UNLISTED
    untrue = said.method in RAW and _raw(said)["type"] in UNTRUE[version]
    for fault in generated.faults(said):
        if not untrue and not (unlisted and fault == NONE):
            yield fault


def _raw(said: Said) -> Any:
    params = said.value["params"]
    return params.get("item") or params["msg"]["item"]


def _form(value: Any) -> str:
    """A message without its texts and numbers: what is of one form is valid together."""
    return re.sub(r'"(?:[^"\\]|\\.)*"(?!:)|-?\d+(?:\.\d+)?', "_", json.dumps({"": _kinds(value)}))


def _kinds(value: Any) -> Any:
    match value:
        case dict():
            return {f"{key}={value[key]}" if key == "type" else key: _kinds(inner) for key, inner in value.items()}
        case list():
            return [_kinds(inner) for inner in value]
    return type(value).__name__


def _generate(version: str, folder: Path) -> Generated:
    experimental = ["--experimental"] if version == NEWEST else []
    out, home = folder / "schemas", folder / "home"
    home.mkdir()
    command: list[str | Path] = [binary(version), "app-server", "generate-json-schema", "--out", out, *experimental]
    subprocess.run(command, env=dict(surroundings(home)), check=True, capture_output=True)
    return Generated(out)
