"""What a run needs before it begins: its folder, its settings, the schema, the images and the text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wireproof_codex.exec.overrides import OverrideError, check_provider, file_settings, read_overrides
from wireproof_codex.exec.prompt import NoPromptError, find_prompt
from wireproof_codex.threads.thread_settings import SANDBOXES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_codex.exec.options import ExecOptions
    from wireproof_codex.exec.prompt import Input
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.versions.version import Version

_UNTRUSTED = "Not inside a trusted directory and --skip-git-repo-check was not specified."
_MISSING = "No such file or directory (os error 2)"
_DANGER = "danger-full-access"
_INSTRUCTIONS = ("model_instructions_file", "experimental_instructions_file")


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


def prepare(
    options: ExecOptions, version: Version, *, home: str, cwd: str, given: Input, say: Callable[[str], None]
) -> Prepared:
    """Look at all that the command line names; `say` writes a line to stderr.

    Raises:
        CannotBeginError: something is missing or wrong.
    """
    try:
        overrides = read_overrides(options.overrides)
        folder = _folder(options, cwd)
        file = {} if options.ignores_config else file_settings(Path(home, "config.toml"))
        settings = {**file, **_profile(options, file, version), **overrides}
        check_provider(file, settings)
        # Stdin is left alone beside a prompt that goes on with a session.
        appends = version.exec.appends_input and options.resumed is None
        text = find_prompt(options.prompt, given, say, appends=appends)
        _check_repository(options, version, folder, file)
        schema = _schema(options.schema_file, cwd)
    except (OverrideError, NoPromptError) as error:
        raise CannotBeginError(str(error)) from error
    images = [{"type": "localImage", "path": str(Path(folder, image))} for image in options.images]
    return Prepared(
        text=text,
        folder=str(folder),
        settings=settings,
        sandbox=_sandbox(options, settings),
        given=[*images, {"type": "text", "text": text}],
        schema=schema,
    )


def _folder(options: ExecOptions, cwd: str) -> Path:
    folder = Path(cwd, options.folder or "")
    if not folder.is_dir():
        raise CannotBeginError(f"Error: {_MISSING}")
    return folder


def _profile(options: ExecOptions, file: Mapping[str, Any], version: Version) -> Mapping[str, Any]:
    if options.profile is None or not version.exec.knows_profiles:
        return {}
    profiles = file.get("profiles", {})
    if options.profile not in profiles:
        raise CannotBeginError(f"Error: config profile `{options.profile}` not found")
    profile: Mapping[str, Any] = profiles[options.profile]
    return profile


def _check_repository(options: ExecOptions, version: Version, folder: Path, file: Mapping[str, Any]) -> None:
    if options.skips_git_check or (options.bypasses and not version.exec.needs_repository):
        return
    trusted = {path for path, at in file.get("projects", {}).items() if at.get("trust_level") == "trusted"}
    places = [folder.resolve(), *folder.resolve().parents]
    if not any((place / ".git").exists() for place in places) and str(places[0]) not in trusted:
        raise CannotBeginError(_UNTRUSTED)


def _schema(file: str | None, cwd: str) -> object:
    if file is None:
        return None
    try:
        return json.loads(Path(cwd, file).read_bytes())
    except OSError as error:
        why = f"{error.strerror} (os error {error.errno})"
        raise CannotBeginError(f"Failed to read output schema file {file}: {why}") from error
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
    if options.bypasses:
        return _DANGER
    if options.full_auto:
        return "workspace-write"
    named = str(options.sandbox or settings.get("sandbox_mode"))
    return named if named in SANDBOXES else "read-only"


def opening(prepared: Prepared, options: ExecOptions) -> Json:
    """The params with which the thread is started."""
    settings = prepared.settings
    wanted: Json = {
        "model": options.model or settings.get("model"),
        "cwd": prepared.folder,
        "approvalPolicy": "never",  # whatever the command line says: nobody is there to be asked
        "sandbox": prepared.sandbox,
        "ephemeral": options.ephemeral,
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
    """The params of turn/start beside the input; `options.model` counts here as well, for a session that goes on."""
    effort = prepared.settings.get("model_reasoning_effort")
    wanted: Json = {
        "model": options.model,
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
