from __future__ import annotations

from pathlib import Path

import pytest

from assay_mocks.codex.outputs import CrashAt
from assay_mocks.codex.settings import Settings, UsageError, read_settings


def _read(*arguments: str, **environment: str) -> Settings:
    return read_settings(arguments, environment, "/here")


def test_whatever_codex_takes_is_accepted() -> None:
    settings = _read("-c", "model=x", "app-server", "--listen", "stdio://", "--strict-config")
    assert settings == Settings(command="app-server", scripts=None, journal=None, home="/.codex", cwd="/here")


def test_files_come_from_the_command_line_or_else_the_environment() -> None:
    settings = _read("--scripts", "a.yaml", "app-server", ASSAY_SCRIPTS="b.yaml", ASSAY_JOURNAL="j")
    assert (settings.scripts, settings.journal) == (Path("a.yaml"), Path("j"))
    assert _read("app-server", "--journal=k", ASSAY_JOURNAL="").journal == Path("k")
    assert _read("app-server", ASSAY_JOURNAL="").journal is None


def test_the_home_is_codexs() -> None:
    assert _read("app-server", CODEX_HOME="/c", HOME="/h").home == "/c"
    assert _read("app-server", HOME="/h").home == "/h/.codex"


@pytest.mark.parametrize(
    ("argument", "command"), [("--version", "version"), ("-V", "version"), ("--help", "help"), ("-h", "help")]
)
def test_it_says_what_it_is(argument: str, command: str) -> None:
    assert _read(argument).command == command


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "assay-codex plays `app-server` only"),
        (("exec", "hi"), "assay-codex plays `app-server` only"),
        (("app-server", "--scripts"), "--scripts needs a file"),
        (("app-server", "--journal="), "--journal needs a file"),
        (("app-server", "--codex-version"), "--codex-version needs a version"),
        (
            ("app-server", "--codex-version", "0.1.0"),
            "codex 0.1.0 is not played; known is every stable version from 0.89.0 to 0.169.0",
        ),
    ],
)
def test_what_cannot_be_followed_is_refused(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}$"):
        _read(*arguments)


def test_the_version_comes_from_the_command_line_or_else_the_environment() -> None:
    assert _read("app-server").version.number == "0.169.0"
    assert _read("app-server", ASSAY_CODEX_VERSION="0.89.0").version.number == "0.89.0"
    settings = _read("--codex-version=0.169.0", "app-server", ASSAY_CODEX_VERSION="0.89.0")
    assert settings.version.number == "0.169.0"


def test_a_crash_is_asked_for_by_a_method_and_a_count() -> None:
    assert _read("app-server", ASSAY_CRASH_AT="").crash_at is None
    assert _read("app-server", ASSAY_CRASH_AT="initialize").crash_at == CrashAt("initialize", 1)
    assert _read("app-server", ASSAY_CRASH_AT="thread/start:3").crash_at == CrashAt("thread/start", 3)


@pytest.mark.parametrize("text", ["initialize:", "initialize:0", "initialize:x"])
def test_a_crash_that_cannot_be_counted_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"^ASSAY_CRASH_AT: expected METHOD or METHOD:N, N from 1, found "):
        _read("app-server", ASSAY_CRASH_AT=text)
