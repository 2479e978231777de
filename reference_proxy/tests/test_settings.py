from __future__ import annotations

from pathlib import Path

import pytest

from wireproof_proxy.settings import (
    CursorSettings,
    ProxySettings,
    SettingsError,
    backend_environment,
    describe,
    load,
    settings_table,
)


@pytest.fixture(autouse=True)
def _no_environment(make_settings: object) -> None:
    """Start from nothing."""


def test_defaults_hold_when_the_environment_says_nothing() -> None:
    settings = load()
    assert (settings.host, settings.port, settings.models, settings.output_mode) == (
        "127.0.0.1",
        8787,
        ("codex",),
        "obsidian-xml",
    )
    assert settings.codex.bin == "codex"
    assert settings.api_key is None


def test_values_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "PROXY_PORT": "0",
        "PROXY_MODELS": " a, b ,,c",
        "PROXY_API_KEY": "secret",
        "PROXY_STOP_AFTER_TOOLS_MODE": "burst",
        "CODEX_BIN": "/opt/codex",
        "CODEX_HOME": "/home/codex",
    }.items():
        monkeypatch.setenv(name, value)
    settings = load()
    assert settings.models == ("a", "b", "c")
    assert settings.api_key is not None
    assert settings.api_key.get_secret_value() == "secret"
    assert "secret" not in repr(settings)
    assert (settings.codex.bin, settings.codex.home) == ("/opt/codex", "/home/codex")
    assert settings.stop_policy == "burst"


def test_an_empty_variable_is_one_that_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXY_PORT", "")
    assert load().port == 8787


@pytest.mark.parametrize("key", ["sk-1", "a b", "~!{}\\", "x" * 4000])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_key_may_come_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: str, end: str) -> None:
    (tmp_path / "key").write_text(key + end)
    monkeypatch.setenv("PROXY_API_KEY_FILE", str(tmp_path / "key"))
    found = load().api_key
    assert found is not None
    assert found.get_secret_value() == key


@pytest.mark.parametrize("key", ["", " ", " a", "a ", "a\nb", "a\tb", "schlüssel", "a  b", "\x7f"])
def test_a_key_that_no_header_carries_as_it_is_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: str
) -> None:
    monkeypatch.setenv("PROXY_API_KEY", key)
    with pytest.raises(SettingsError, match=r"^PROXY_API_KEY: "):
        load()
    monkeypatch.delenv("PROXY_API_KEY")
    (tmp_path / "key").write_text(key + "\n", newline="")
    monkeypatch.setenv("PROXY_API_KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(SettingsError, match=r"^PROXY_API_KEY_FILE: "):
        load()


def test_a_key_has_one_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PROXY_API_KEY_FILE", str(tmp_path / "missing"))
    with pytest.raises(SettingsError, match=r"^PROXY_API_KEY_FILE: .* cannot be read"):
        load()
    monkeypatch.setenv("PROXY_API_KEY", "secret")
    with pytest.raises(SettingsError, match=r"^PROXY_API_KEY_FILE: .* keep one"):
        load()


@pytest.mark.parametrize(("idle", "wait"), [("1", ""), ("300", "300"), ("", "300000")])
def test_a_backend_that_would_fail_before_its_calls_are_answered_is_refused(
    monkeypatch: pytest.MonkeyPatch, idle: str, wait: str
) -> None:
    monkeypatch.setenv("PROXY_IDLE_TIMEOUT_MS", idle)
    monkeypatch.setenv("PROXY_CALL_WAIT_MS", wait)
    with pytest.raises(SettingsError, match=r"^PROXY_IDLE_TIMEOUT_MS: .* is not above PROXY_CALL_WAIT_MS"):
        load()
    monkeypatch.setenv("PROXY_IDLE_TIMEOUT_MS", str(int(wait or 2) + 1))
    assert load().call_wait_ms == int(wait or 1)


@pytest.mark.parametrize(("idle", "wait"), [("2", 1), ("700", 350), ("4000", 2000), ("", 2000)])
def test_calls_are_waited_for_half_as_long_as_a_silent_backend_at_most(
    monkeypatch: pytest.MonkeyPatch, idle: str, wait: int
) -> None:
    monkeypatch.setenv("PROXY_IDLE_TIMEOUT_MS", idle)
    assert load().call_wait_ms == wait


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "proxy.example"])
def test_without_a_key_other_machines_are_let_in_only_where_that_is_said(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("PROXY_HOST", host)
    with pytest.raises(SettingsError, match=r"^PROXY_HOST: .*PROXY_INSECURE=1"):
        load()
    monkeypatch.setenv("PROXY_INSECURE", "1")
    assert load().host == host
    monkeypatch.delenv("PROXY_INSECURE")
    monkeypatch.setenv("PROXY_API_KEY", "secret")
    assert load().host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost"])
def test_without_a_key_this_machine_is_let_in(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("PROXY_HOST", host)
    assert load().host == host


def test_without_a_key_no_web_page_is_let_in_unless_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load().cors_origins == ("app://obsidian.md", "capacitor://localhost")
    monkeypatch.setenv("PROXY_API_KEY", "secret")
    assert load().cors_origins == ("*",)
    monkeypatch.setenv("PROXY_CORS_ORIGINS", "https://a.example")
    assert load().cors_origins == ("https://a.example",)


def test_every_number_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    # The system waits for no time that is much longer than 31 years.
    numbers = [
        f"{model.prefix}{name.upper()}"
        for model in (ProxySettings, CursorSettings)
        for name, field in model.model_fields.items()
        if field.annotation is int
    ]
    assert "PROXY_KEEPALIVE_MS" in numbers
    for variable in numbers:
        monkeypatch.setenv(variable, "9" * 20)
        with pytest.raises(SettingsError, match=f"^{variable}: Input should be less than or equal to"):
            load()
        monkeypatch.delenv(variable)


def test_not_stopping_after_tools_is_burst() -> None:
    assert ProxySettings(stop_after_tools=False).stop_policy == "burst"
    assert ProxySettings().stop_policy == "first"


def test_responses_send_all_calls_unless_the_environment_says_first(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load().responses_stop_policy == "burst"
    monkeypatch.setenv("PROXY_STOP_AFTER_TOOLS_MODE", "first")
    assert load().responses_stop_policy == "first"
    monkeypatch.setenv("PROXY_STOP_AFTER_TOOLS", "false")
    assert load().responses_stop_policy == "burst"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PROXY_PORT", "no"),
        ("PROXY_PORT", "65536"),
        ("PROXY_OUTPUT_MODE", "function-call"),
        ("PROXY_STOP_AFTER_TOOLS_MODE", "all"),
        ("PROXY_TOOL_ARGUMENTS", "both"),
        ("PROXY_TOOL_BLOCK_MAX", "-1"),
        ("PROXY_SUPPRESS_TAIL_AFTER_TOOLS", "maybe"),
        ("PROXY_XML_ESCAPE", "html"),
        ("PROXY_TOOLS_STRICT", "maybe"),
        ("PROXY_RESPONSES_STORED", "-1"),
        ("PROXY_MAX_CHOICES", "0"),
        ("PROXY_CODEX_PROTOCOL", "v3"),
        ("PROXY_MODELS", ","),
        ("PROXY_MODELS", ""),
        ("PROXY_MODELS", " "),
        ("PROXY_CORS_ORIGINS", ","),
        ("PROXY_API_KEY", ""),
        ("PROXY_MAX_CONCURRENCY", "0"),
        ("PROXY_LOG_LEVEL", "loud"),
    ],
)
def test_a_bad_value_is_an_error_that_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=f"^{name}: "):
        load()


def test_the_backend_gets_its_own_settings_and_never_the_proxys_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXY_API_KEY", "secret")
    monkeypatch.setenv("CODEX_HOME", "/home/codex")
    environment = backend_environment()
    assert environment["CODEX_HOME"] == "/home/codex"
    assert "secret" not in environment.values()


def test_arguments_are_sent_as_the_output_mode_has_it_unless_a_setting_says_otherwise() -> None:
    assert [ProxySettings().arguments_mode(mode) for mode in ("obsidian-xml", "openai-json")] == [
        "cumulative",
        "incremental",
    ]
    assert ProxySettings(tool_arguments="incremental").arguments_mode("obsidian-xml") == "incremental"
    assert ProxySettings(tool_arguments="cumulative").arguments_mode("openai-json") == "cumulative"


def test_the_delimiter_is_any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load().tool_block_delimiter == "\n"
    monkeypatch.setenv("PROXY_TOOL_BLOCK_DELIMITER", " ")
    assert load().tool_block_delimiter == " "


def test_every_variable_is_described() -> None:
    text = describe()
    assert "(newline)" in text
    for name in (
        "PROXY_HOST",
        "PROXY_CODEX_PROTOCOL",
        "PROXY_TOOL_BLOCK_DELIMITER",
        "PROXY_RESTART_LIMIT",
        "PROXY_TOOLS_STRICT",
        "PROXY_RESPONSES_STORED",
        "PROXY_CORS_ORIGINS",
        "CODEX_BIN",
        "CODEX_HOME",
    ):
        assert name in text
    assert "(unset)" in text
    assert "true" in text


def test_the_documentation_lists_all_settings_with_their_meanings() -> None:
    root = Path(__file__).parents[2]
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    lines = "\n".join(page.read_text(encoding="utf-8") for page in pages).replace("`", "").splitlines()
    rows = [line for line in lines if line.startswith(("| PROXY_", "| CODEX_", "| CURSOR_"))]
    listed = {line.split(" | ")[0].removeprefix("| "): line for line in rows}
    for line in describe().replace("`", "").splitlines():
        name, _default, meaning = line.split(maxsplit=2)
        assert meaning in listed[name]


def test_the_backends_own_name_is_the_model_that_is_served_unless_others_are_named() -> None:
    assert ProxySettings(backend="cursor").models == ("cursor",)
    assert ProxySettings(backend="cursor", models=("gpt",)).models == ("gpt",)


def test_the_table_of_the_manual_spells_defaults_as_a_reader_would_set_them() -> None:
    table = settings_table().splitlines()
    assert "| `PROXY_PORT` | `8787` | port to listen on; 0: any free one |" in table
    assert any(line.startswith("| `PROXY_API_KEY` | unset | ") for line in table)
    assert any(line.startswith("| `PROXY_TOOL_BLOCK_DELIMITER` | newline | ") for line in table)
