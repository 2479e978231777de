"""What a run needs before it begins: its folder, its settings, the schema, the images and the text."""

from __future__ import annotations

import codecs
import json
import os
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wireproof_codex.threads.thread_settings import SANDBOXES
from wireproof_scripts.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof_codex.exec.options import ExecOptions
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.versions.version import Version

_UNTRUSTED = "Not inside a trusted directory and --skip-git-repo-check was not specified."
_DANGER = "danger-full-access"
_BYPASSES = "--dangerously-bypass-approvals-and-sandbox"
_INSTRUCTIONS = ("model_instructions_file", "experimental_instructions_file")
_BUILT_IN = frozenset({"openai", "ollama", "ollama-chat", "lmstudio", "oss", "amazon-bedrock", "mock"})
_NEEDED = "No prompt provided. Either specify one as an argument or pipe the prompt into stdin."
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""Byte order marks, the longest of those that begin alike first."""


class CannotBeginError(Exception):
    """The run ends before it begins, with status 1; the text is codex's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A run that can begin."""

    text: str
    folder: str
    settings: Mapping[str, Any]
    """Those of config.toml with the overrides of the command line."""
    sandbox: str
    given: list[Json]
    """The input of the turn."""
    schema: object
    """The JSON schema of the answer; None: any text."""


def say(text: str) -> None:
    """Write a line to stderr."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def os_error(error: OSError) -> str:
    """An error of the system as Rust writes it."""
    return f"{error.strerror} (os error {error.errno})"


def prepare(options: ExecOptions, version: Version, *, home: str, cwd: str) -> Prepared:
    """Look at all that the command line names, and read the text.

    Raises:
        CannotBeginError: something is missing or wrong.
    """
    overrides = _overrides(options.overrides)
    folder = Path(cwd, options.one("--cd") or "")
    if not os.path.isdir(folder):  # noqa: PTH112 - `Path.is_dir` raises where a name is too long
        raise CannotBeginError("Error: No such file or directory (os error 2)")
    file = {} if "--ignore-user-config" in options else _file_settings(Path(home, "config.toml"))
    settings = {**file, **_profile(options, file, version), **overrides}
    _check_provider(file, settings)
    # Stdin is left alone beside a prompt that goes on with a session.
    text = _find_prompt(options.prompt, appends=version.exec.appends_input and options.resumed is None)
    _check_repository(options, version, folder, file)
    images = [{"type": "localImage", "path": str(Path(folder, image))} for image in options.images]
    return Prepared(
        text=text,
        folder=str(folder),
        settings=settings,
        sandbox=_sandbox(options, settings),
        given=[*images, {"type": "text", "text": text}],
        schema=_schema(options.one("--output-schema"), cwd),
    )


# Settings


def _overrides(overrides: Sequence[str]) -> dict[str, Any]:
    """The `-c key=value` by their dotted keys; a value that is no TOML is taken as text."""
    read: dict[str, Any] = {}
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals:
            raise CannotBeginError(f"Error parsing -c overrides: Invalid override (missing '='): {override}")
        if not key.strip():
            raise CannotBeginError(f"Error parsing -c overrides: Empty key in override: {override}")
        read[key.strip()] = _value(value)
    return read


def _value(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip().strip("\"'")


def _file_settings(path: Path) -> Mapping[str, Any]:
    """What a config.toml sets; nothing, if there is none."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise CannotBeginError(f"Error loading config.toml: {path}: {error}") from error


def _check_provider(settings: Mapping[str, Any], overrides: Mapping[str, Any]) -> None:
    """Check that the provider that they name is defined."""
    name = overrides.get("model_provider", settings.get("model_provider"))
    defined = {key.split(".")[1] for key in overrides if key.startswith("model_providers.")}
    whole = overrides.get("model_providers", {})
    if name is None or name in _BUILT_IN | defined | set(settings.get("model_providers", {})) | set(whole):
        return
    raise CannotBeginError(f"Error: Model provider `{name}` not found")


def _profile(options: ExecOptions, file: Mapping[str, Any], version: Version) -> Mapping[str, Any]:
    name, profiles = options.one("--profile"), file.get("profiles", {})
    if name is None or not version.exec.knows_profiles:
        return {}
    if name not in profiles:
        raise CannotBeginError(f"Error: config profile `{name}` not found")
    profile: Mapping[str, Any] = profiles[name]
    return profile


def _check_repository(options: ExecOptions, version: Version, folder: Path, file: Mapping[str, Any]) -> None:
    if "--skip-git-repo-check" in options or (_BYPASSES in options and not version.exec.needs_repository):
        return
    trusted = {path for path, at in file.get("projects", {}).items() if at.get("trust_level") == "trusted"}
    places = [folder.resolve(), *folder.resolve().parents]
    if not any((place / ".git").exists() for place in places) and str(places[0]) not in trusted:
        raise CannotBeginError(_UNTRUSTED)


def _schema(file: str | None, cwd: str) -> object:
    if file is None:
        return None
    try:
        return parse_json(Path(cwd, file).read_bytes())
    except OSError as error:
        raise CannotBeginError(f"Failed to read output schema file {file}: {os_error(error)}") from error
    except ValueError as error:
        raise CannotBeginError(f"Output schema file {file} is not valid JSON: {_serde(error)}") from error


def _serde(error: ValueError) -> str:
    """The error in the words of serde, where Python's reader knows the place."""
    if isinstance(error, json.JSONDecodeError):
        over = not error.doc[error.pos :].strip()
        what = "EOF while parsing a value" if over else "expected value"
        column = error.colno - 1 if over else error.colno
        return f"{what} at line {error.lineno} column {column}"
    return str(error)


def _sandbox(options: ExecOptions, settings: Mapping[str, Any]) -> str:
    if _BYPASSES in options:
        return _DANGER
    if "--full-auto" in options:
        return "workspace-write"
    named = str(options.one("--sandbox") or settings.get("sandbox_mode"))
    return named if named in SANDBOXES else "read-only"


# The text


def _find_prompt(argument: str | None, *, appends: bool) -> str:
    """The text of the run: the argument, standard input, or both; `appends`: stdin is read beside an argument, too."""
    if argument is not None and argument != "-":
        return _appended(argument) if appends and not sys.stdin.isatty() else argument
    if argument is None:
        if sys.stdin.isatty():
            raise CannotBeginError(_NEEDED)
        say("Reading prompt from stdin...")
    text = _decoded(sys.stdin.buffer.read())
    if not text.strip():
        raise CannotBeginError("No prompt provided via stdin.")
    return text


def _appended(argument: str) -> str:
    say("Reading additional input from stdin...")
    text = _decoded(sys.stdin.buffer.read())
    if not text.strip():
        return argument
    end = "" if text.endswith("\n") else "\n"
    return f"{argument}\n\n<stdin>\n{text}{end}</stdin>"


def _decoded(data: bytes) -> str:
    mark = next((mark for mark in _MARKS if data.startswith(mark)), b"")
    try:
        return data.removeprefix(mark).decode(_MARKS.get(mark, "utf-8"))
    except UnicodeDecodeError as error:
        why = f"input is not valid UTF-8 (invalid byte at offset {error.start})"
        advice = "Convert it to UTF-8 and retry (e.g., `iconv -f <ENC> -t UTF-8 prompt.txt`)."
        raise CannotBeginError(f"Failed to read prompt from stdin: {why}. {advice}") from error


# What the core is asked


def opening(prepared: Prepared, options: ExecOptions) -> Json:
    """The params with which the thread is started."""
    settings = prepared.settings
    wanted: Json = {
        "model": options.one("--model") or settings.get("model"),
        "cwd": prepared.folder,
        "approvalPolicy": "never",  # whatever the command line says: nobody is there to be asked
        "sandbox": prepared.sandbox,
        "ephemeral": "--ephemeral" in options,
        "developerInstructions": settings.get("developer_instructions"),
        "baseInstructions": _instructions(prepared),
    }
    return {name: value for name, value in wanted.items() if value is not None}


def _instructions(prepared: Prepared) -> str | None:
    for name in _INSTRUCTIONS:
        file = prepared.settings.get(name)
        if isinstance(file, str):
            try:
                return Path(prepared.folder, file).read_text(encoding="utf-8")
            except (OSError, ValueError) as error:
                raise CannotBeginError(f"Error: failed to read model instructions file {file}: {error}") from error
    return None


def turn_params(prepared: Prepared, options: ExecOptions) -> Json:
    """The params of turn/start beside the input; a model counts here as well, for a session that goes on."""
    effort = prepared.settings.get("model_reasoning_effort")
    wanted: Json = {
        "model": options.one("--model"),
        "effort": effort if isinstance(effort, str) else None,
        "outputSchema": prepared.schema,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def shown_settings(prepared: Prepared, thread: Mapping[str, Any], version: Version, home: str) -> Mapping[str, str]:
    """What the head for people shows of the run, in order; `thread`: the answer that opened it."""
    settings = prepared.settings
    writable = "[workdir, /tmp, $TMPDIR" + (f", {home}/memories]" if version.exec.memories else "]")
    network = settings.get("sandbox_workspace_write.network_access") is True
    shown = {
        "read-only": "read-only",
        "workspace-write": f"workspace-write {writable}" + (" (network access enabled)" if network else ""),
        _DANGER: _DANGER,
    }
    return {
        "workdir": str(thread["cwd"]),
        "model": str(thread["model"]),
        "provider": str(settings.get("model_provider", thread["modelProvider"])),
        "approval": "never",
        "sandbox": shown[prepared.sandbox],
        "reasoning effort": str(settings.get("model_reasoning_effort", "none")),
        "reasoning summaries": str(settings.get("model_reasoning_summary", version.exec.summaries)),
    }
