"""What `-c key=value` sets, as far as a run of the mock depends on it."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_BUILT_IN = frozenset({"openai", "ollama", "ollama-chat", "lmstudio", "oss", "amazon-bedrock", "mock"})


class OverrideError(Exception):
    """An override cannot be read or followed; the text is codex's."""


def read_overrides(overrides: Iterable[str]) -> dict[str, Any]:
    """The overrides by their dotted keys; a value that is no TOML is taken as text.

    Raises:
        OverrideError: one has no `=` or no key.
    """
    read: dict[str, Any] = {}
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals:
            raise OverrideError(f"Error parsing -c overrides: Invalid override (missing '='): {override}")
        if not key.strip():
            raise OverrideError(f"Error parsing -c overrides: Empty key in override: {override}")
        read[key.strip()] = _value(value)
    return read


def _value(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip().strip("\"'")


def file_settings(path: Path) -> Mapping[str, Any]:
    """What a config.toml sets; nothing, if there is none.

    Raises:
        OverrideError: it is no TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise OverrideError(f"Error loading config.toml: {path}: {error}") from error


def check_provider(settings: Mapping[str, Any], overrides: Mapping[str, Any]) -> None:
    """Check that the provider that they name is defined.

    Raises:
        OverrideError: it is not.
    """
    name = overrides.get("model_provider", settings.get("model_provider"))
    defined = {key.split(".")[1] for key in overrides if key.startswith("model_providers.")}
    whole = overrides.get("model_providers", {})
    if name is None or name in _BUILT_IN | defined | set(settings.get("model_providers", {})) | set(whole):
        return
    raise OverrideError(f"Error: Model provider `{name}` not found")
