from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from wireproof_codex.protocol.outputs import CrashAt
from wireproof_codex.settings import CodexMockSettings, CodexUsageError, RefusedError, read_recording, read_settings
from wireproof_codex.transports.record import Recorded
from wireproof_codex.versions.version import NEWEST, PLAYED


def _read(*arguments: str, **environment: str) -> CodexMockSettings:
    return read_settings(arguments, environment, "/here")


def test_whatever_codex_takes_is_accepted() -> None:
    settings = _read("-c", "model=x", "app-server", "--listen", "stdio://", "--strict-config")
    plain = CodexMockSettings(command="app-server", scripts=None, journal=None, home="/.codex", cwd="/here")
    assert settings == replace(plain, before=("-c", "model=x"), cache="/.cache/wireproof-codex")


def test_stdio_is_an_option_of_newer_versions() -> None:
    assert _read("app-server", "--stdio").command == "app-server"
    assert _read("--codex-version", "0.140.0", "app-server", "--stdio").command == "app-server"
    with pytest.raises(RefusedError, match="error: unexpected argument '--stdio' found"):
        _read("--codex-version", "0.134.0", "app-server", "--stdio")


def test_what_follows_exec_is_its_own() -> None:
    settings = _read("--journal", "j", "-m", "exec", "e", "--json", "--scripts", "app-server", XDG_CACHE_HOME="/x")
    assert (settings.command, settings.journal, settings.scripts) == ("exec", Path("j"), None)
    assert settings.before == ("-m", "exec")
    assert settings.arguments == ("--json", "--scripts", "app-server")
    assert settings.cache == "/x/wireproof-codex"


def test_the_app_server_has_help() -> None:
    assert _read("app-server", "--help").command == "help"


def test_a_version_that_was_named_is_kept() -> None:
    assert _read("app-server").adapts
    assert _read("app-server", WIREPROOF_CODEX_VERSION="").adapts
    assert not _read("--codex-version", NEWEST.number, "app-server").adapts
    assert not _read("app-server", WIREPROOF_CODEX_VERSION="0.107.0").adapts


def test_files_come_from_the_command_line_or_else_the_environment() -> None:
    settings = _read("--scripts", "a.yaml", "app-server", WIREPROOF_SCRIPTS="b.yaml", WIREPROOF_JOURNAL="j")
    assert (settings.scripts, settings.journal) == (Path("a.yaml"), Path("j"))
    assert _read("app-server", "--journal=k", WIREPROOF_JOURNAL="").journal == Path("k")
    assert _read("app-server", WIREPROOF_JOURNAL="").journal is None


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
        ((), "wireproof-codex plays `app-server`, `exec`, `mcp-server` and `login status`; no command is given"),
        (
            ("mcp", "list"),
            "wireproof-codex does not play `codex mcp`, only `app-server`, `exec`, `mcp-server` and `login status`",
        ),
        (("app-server", "daemon"), "wireproof-codex does not play `app-server daemon`"),
        (("app-server", "--scripts"), "--scripts needs a file"),
        (("app-server", "--journal="), "--journal needs a file"),
        (("app-server", "--codex-version"), "--codex-version needs a version"),
        (
            ("app-server", "--codex-version", "0.88.0"),
            f"codex 0.88.0 is not played; known is {PLAYED}, such as 0.98.0, 0.89.0, 0.158.0",
        ),
    ],
)
def test_what_cannot_be_followed_is_refused(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(CodexUsageError, match=f"^{message}$"):
        _read(*arguments)


def test_the_version_comes_from_the_command_line_or_else_the_environment() -> None:
    assert _read("app-server").version is NEWEST
    assert _read("app-server", WIREPROOF_CODEX_VERSION="0.89.0").version.number == "0.89.0"
    settings = _read(f"--codex-version={NEWEST.number}", "app-server", WIREPROOF_CODEX_VERSION="0.89.0")
    assert settings.version is NEWEST


def test_a_crash_is_asked_for_by_a_method_and_a_count() -> None:
    assert _read("app-server", WIREPROOF_CRASH_AT="").crash_at is None
    assert _read("app-server", WIREPROOF_CRASH_AT="initialize").crash_at == CrashAt("initialize", 1)
    assert _read("app-server", WIREPROOF_CRASH_AT="thread/start:3").crash_at == CrashAt("thread/start", 3)


@pytest.mark.parametrize(
    "text", ["initialize:", "initialize:0", "initialize:x", "initialize:\u0661", "initialize:" + "1" * 5000]
)
def test_a_crash_that_cannot_be_counted_is_refused(text: str) -> None:
    with pytest.raises(CodexUsageError, match=r"^WIREPROOF_CRASH_AT: expected METHOD or METHOD:N, N from 1, found "):
        _read("app-server", WIREPROOF_CRASH_AT=text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("turns/start:2", f"codex {NEWEST.number} has no method turns/start; did you mean turn/start?"),
        ("{", f"codex {NEWEST.number} has no method {{"),
    ],
)
def test_a_crash_at_a_method_that_there_is_not_is_refused(text: str, said: str) -> None:
    with pytest.raises(CodexUsageError) as caught:
        _read("app-server", WIREPROOF_CRASH_AT=text)
    assert str(caught.value) == f"WIREPROOF_CRASH_AT: {said}"


def test_a_crash_at_a_method_of_older_versions_needs_one_that_is_played() -> None:
    old = "newConversation"
    assert _read("app-server", WIREPROOF_CRASH_AT=old).crash_at == CrashAt(old, 1)  # a client with it is adapted to
    with pytest.raises(CodexUsageError, match=f"^WIREPROOF_CRASH_AT: codex {NEWEST.number} has no method {old}"):
        _read("--codex-version", NEWEST.number, "app-server", WIREPROOF_CRASH_AT=old)


def test_room_for_answers_is_a_number() -> None:
    assert _read("app-server").room is None
    assert _read("app-server", WIREPROOF_OVERLOAD_AT="100").room == 100
    for text in ("0", "x", "-1", "\u0661", "1" * 5000):
        with pytest.raises(CodexUsageError, match=r"^WIREPROOF_OVERLOAD_AT: expected a number from 1, found "):
            _read("app-server", WIREPROOF_OVERLOAD_AT=text)


def test_the_model_takes_a_moment_unless_it_is_to_take_none() -> None:
    assert _read("app-server").pace == _read("app-server", WIREPROOF_PACE="").pace == 0.02
    assert _read("app-server", WIREPROOF_PACE="0").pace == 0.0
    assert _read("app-server", WIREPROOF_PACE="1.5").pace == 1.5
    for text in ("-1", "soon", "nan", "inf", "1e300"):
        with pytest.raises(
            CodexUsageError, match=f"^WIREPROOF_PACE: expected seconds from 0 to 1000000000, found {text}$"
        ):
            _read("app-server", WIREPROOF_PACE=text)


def test_stdio_alone_is_listened_on() -> None:
    assert _read("--version", "--listen", "nonsense").command == "version"
    assert _read("--codex-version", "0.100.0", "app-server", "--listen", "stdio://").command == "app-server"
    with pytest.raises(CodexUsageError) as refused:
        _read("app-server", "--listen", "ws://127.0.0.1:0")
    wanted = "--listen: expected stdio://, found ws://127.0.0.1:0; wireproof-codex listens on stdio alone"
    assert str(refused.value) == wanted


def test_a_version_without_the_option_to_listen_refuses_it_as_codex_does() -> None:
    with pytest.raises(RefusedError) as refused:
        _read("--codex-version", "0.99.0", "app-server", "--listen", "stdio://")
    assert str(refused.value) == (
        "error: unexpected argument '--listen' found\n\n"
        "Usage: codex app-server [OPTIONS] [COMMAND]\n\nFor more information, try '--help'.\n"
    )
    assert refused.value.status == 2


def test_a_recording_says_what_to_run_where_to_write_and_what_to_mask() -> None:
    recorded = read_recording(["--", "codex", "app-server"], {"HOME": "/h"}, "/here")
    masks = {"/h/.codex": "/srv/codex-home", "/h": "/srv/home", "/here": "/srv/workspace"}
    assert recorded == Recorded(command=["codex", "app-server"], file=Path("recording.jsonl"), masks=masks)
    recorded = read_recording(["--output", "r", "--", "codex"], {"CODEX_HOME": "/c"}, "/here")
    masks = {"/c": "/srv/codex-home", "/here": "/srv/workspace"}
    assert recorded == Recorded(command=["codex"], file=Path("r"), masks=masks)


@pytest.mark.parametrize("arguments", [(), ("--",), ("codex",), ("--output", "--", "codex"), ("--output", "f", "--")])
def test_a_recording_of_nothing_is_refused(arguments: tuple[str, ...]) -> None:
    with pytest.raises(
        CodexUsageError, match=r"^expected record \[--output FILE\] -- COMMAND, as in record -- codex app"
    ):
        read_recording(arguments, {}, "/here")


@pytest.mark.parametrize("command", ["daemon", "generate-json-schema", "generate-ts", "proxy"])
def test_commands_below_app_server_are_not_played(command: str) -> None:
    with pytest.raises(CodexUsageError, match=f"^wireproof-codex does not play `app-server {command}`$"):
        _read("app-server", command)
