"""Every setting of the proxy: an environment variable, read once at start and then passed on.

No other module reads the environment. `load` turns a bad value into one line that names the variable.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError

from wireproof_surfaces.api_forms import key_fault
from wireproof_surfaces.http.cors import is_loopback
from wireproof_surfaces.surfaces.chat_dialect import (  # pydantic reads the annotations when the program runs
    ArgumentsMode,  # noqa: TC001
    OutputMode,  # noqa: TC001
    StopPolicy,  # noqa: TC001
    XmlEscape,  # noqa: TC001
)

if TYPE_CHECKING:
    from collections.abc import Iterator

Protocol = Literal["v1", "v2"]
CursorTransport = Literal["run", "run-sse"]
LogLevel = Literal["debug", "info", "warning", "error"]


DESKTOP = ("app://obsidian.md", "capacitor://localhost")
"""The origins of apps that are installed on the machine. No web page has one of these."""

_BACKEND = "codex"
"""The default backend."""
_CALL_WAIT = 2000
"""The default of `call_wait_ms`."""
_MOST = 10**12
"""Of any number: 31 years, or a terabyte. The system waits for no time that is much longer."""


class SettingsError(ValueError):
    """A variable's value is not acceptable; the text names the variable and says what would be right."""


def _split(value: object) -> object:
    """`a, b` → ("a", "b"); anything else is left to the field's own validation."""
    return tuple(part for item in value.split(",") if (part := item.strip())) if isinstance(value, str) else value


AnyNames = Annotated[tuple[str, ...], BeforeValidator(_split)]
Names = Annotated[AnyNames, Field(min_length=1)]


def _setting(default: Any, description: str, **bounds: int) -> Any:  # noqa: ANN401 - as pydantic's Field
    most = bounds.get("le", _MOST if "ge" in bounds else None)
    return Field(default=default, description=description, ge=bounds.get("ge"), le=most)


class EnvironmentSettings(BaseModel):
    """Settings that variables of one prefix give; one that is empty counts as unset."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    prefix: ClassVar[str]

    @classmethod
    def from_environment(cls, **given: object) -> Self:
        """The settings of the environment, but for those that are given."""
        found = {name: os.environ.get(cls.prefix + name.upper()) for name in cls.model_fields}
        return cls.model_validate({name: value for name, value in found.items() if value} | given)


class CodexSettings(EnvironmentSettings):
    """Codex's own variables: how its process is started."""

    prefix = "CODEX_"

    bin: str = _setting("codex", "the codex executable; it is started as `CODEX_BIN app-server`")
    # For `--help` alone: the backend gets the variable itself, with the rest of the environment.
    home: str | None = _setting(None, "passed on to the backend; unset: codex decides")


class CursorSettings(EnvironmentSettings):
    """How the Cursor agent service is reached, and what may run here for it."""

    prefix = "CURSOR_"

    # No default: nothing of the real service is built in.
    base_url: str | None = _setting(None, "where the Cursor agent service is; `PROXY_BACKEND=cursor` needs it")
    token: SecretStr | None = _setting(None, "bearer token for the service; `PROXY_BACKEND=cursor` needs it")
    transport: CursorTransport = _setting("run", "run (HTTP/2) or run-sse (HTTP/1.1): how turns reach the service")
    settle_ms: int = _setting(
        300, "calls are complete when a service with none announced is silent for this long", ge=1
    )
    scratch: str | None = _setting(
        None, "folder in which read, ls, grep and glob run for requests without tools; unset: they are refused"
    )
    scratch_write: bool = _setting(False, "true: the service may write files in that folder")  # noqa: FBT003 - a default, not a flag
    scratch_shell: bool = _setting(False, "true: the service may run any command, as the proxy's own user")  # noqa: FBT003 - a default, not a flag


class ProxySettings(EnvironmentSettings):
    """The proxy's settings; times are milliseconds, sizes bytes."""

    prefix = "PROXY_"

    backend: str = _setting(_BACKEND, "the backend that answers; for an unknown one the known ones are listed")
    host: str = _setting("127.0.0.1", "address to listen on; without a key a loopback one")
    port: int = _setting(8787, "port to listen on; 0: any free one", ge=0, le=65535)
    # SecretStr: a settings object that is printed or logged does not show it.
    api_key: SecretStr | None = _setting(None, "bearer key that clients must send; unset: no authentication")
    api_key_file: str | None = _setting(None, "file whose only line is that key")
    insecure: bool = _setting(False, "true: listen at any address without a key, and answer at any name")  # noqa: FBT003 - a default, not a flag
    models: Names = Field(
        default_factory=lambda values: (values["backend"],),
        description="names served, comma-separated; that of the backend (`codex`) is its own default model",
    )
    any_model: bool = _setting(False, "true: any other name is served, too, and listed when it was asked for")  # noqa: FBT003 - a default, not a flag
    unknown_models: AnyNames = Field(default=(), description="names that are refused even so, comma-separated")
    chatgpt_service: bool = _setting(False, "true: also /backend-api/codex/responses, as behind a login")  # noqa: FBT003 - a default, not a flag
    # The default that story 2.9 asks for (criterion 5), though most clients want OpenAI's.
    output_mode: OutputMode = _setting("obsidian-xml", "obsidian-xml or openai-json: how chat answers write tool calls")
    # Criterion 8 asks for cumulative ones, and its clients read `content`. All 17 OpenAI clients that were tried
    # concatenate: cumulative text breaks them, some by running the tool with wrong arguments.
    tool_arguments: ArgumentsMode | None = _setting(
        None, "incremental or cumulative deltas; unset: cumulative in obsidian-xml, incremental elsewhere"
    )
    # Criteria 1, 9 and 11: a stream stops after its first call.
    stop_after_tools_mode: StopPolicy = _setting("first", "first or burst: streams end after the first call or all")
    stop_after_tools: bool = _setting(True, "false: the same as burst")  # noqa: FBT003 - a default, not a flag
    tool_block_max: int = _setting(0, "calls, and blocks, of one choice at most; 0: all of them", ge=0)
    tool_block_delimiter: str = _setting("\n", "what stands between the <use_tool> blocks of a burst")
    # Criteria 3 and 21: what follows a call is dropped.
    suppress_tail_after_tools: bool = _setting(True, "false: text after calls passes, unless the stream ended before")  # noqa: FBT003 - a default, not a flag
    # "Obsidian tool calling" has the call logged and passed on (line 178); failing is the stricter choice.
    tools_strict: bool = _setting(False, "true: a call of a tool that was not declared fails a response")  # noqa: FBT003 - a default, not a flag
    responses_stored: int = _setting(
        256, "responses, and threads of messages, kept in memory; those not used for longest go first", ge=0
    )
    threads: bool = _setting(True, "false: threads of messages are refused; their clients then send whole histories")  # noqa: FBT003 - a default, not a flag
    # `none` is for Copilot 3.0 to 3.1.5, which never unescapes a value.
    xml_escape: XmlEscape = _setting("xml", "xml or none: whether &, < and > in <use_tool> values are escaped")
    # 128 is the most that OpenAI's API takes.
    max_choices: int = _setting(8, "largest n of a request", ge=1, le=128)
    codex_protocol: Protocol = _setting("v2", "v2 or v1: how the backend is spoken to")
    # Criterion 14: an early failure is to be a real HTTP error (`answers.timing`).
    commit_ms: int = _setting(2000, "how long a stream's status line waits for the first output", ge=0)
    # chat.stream.keepalive: at least every 15 s.
    keepalive_ms: int = _setting(15_000, "a silent stream gets a comment line this often", ge=1)
    idle_timeout_ms: int = _setting(
        300_000, "a backend silent for this long has failed; above PROXY_CALL_WAIT_MS", ge=1
    )
    # A setting since a suite of many cases cannot wait 2 s for each.
    call_wait_ms: int = Field(
        default_factory=lambda values: min(_CALL_WAIT, max(1, values.get("idle_timeout_ms", _MOST) // 2)),
        description="a backend silent for this long, while calls wait for the client, has them answered; "
        "unless set, at most half of PROXY_IDLE_TIMEOUT_MS",
        ge=1,
        le=_MOST,
    )
    stalled_client_ms: int = _setting(
        30_000, "a client that reads nothing for this long, though much waits, is given up", ge=1
    )
    ready_wait_ms: int = _setting(5000, "how long a request waits for a starting backend", ge=0)
    max_body_bytes: int = _setting(8_388_608, "largest request body", ge=1)
    max_concurrency: int = _setting(64, "requests answered at once; more get a 429", ge=1, le=4096)
    restart_limit: int = _setting(8, "restarts in a row of a backend that answers nothing; then /livez is 503", ge=0)
    drain_ms: int = _setting(3000, "how long running answers may go on when the proxy is stopped", ge=0)
    log_level: LogLevel = _setting("info", "debug, info, warning or error: what goes to stderr")
    cors_origins: Names = Field(
        default_factory=lambda values: ("*",) if values.get("api_key") else DESKTOP,
        description="origins of browser clients, comma-separated; * is any, and the default with a key",
    )
    codex: CodexSettings = Field(default_factory=CodexSettings)
    cursor: CursorSettings = Field(default_factory=CursorSettings)

    @property
    def stop_policy(self) -> StopPolicy:
        """The stop policy of streams whose request does not say."""
        return self.stop_after_tools_mode if self.stop_after_tools else "burst"

    @property
    def responses_stop_policy(self) -> StopPolicy:
        """The same for responses, where parallel calls are the API's default: first only if the environment says so."""
        return self.stop_policy if "stop_after_tools_mode" in self.model_fields_set else "burst"

    @property
    def wholes_obey(self) -> bool:
        """Never: a whole answer holds all calls."""
        return False

    def arguments_mode(self, output_mode: OutputMode) -> ArgumentsMode:
        """How streams of this output mode send arguments, where the request does not say."""
        return self.tool_arguments or ("cumulative" if output_mode == "obsidian-xml" else "incremental")


_MODELS: tuple[type[EnvironmentSettings], ...] = (ProxySettings, CodexSettings, CursorSettings)


def load() -> ProxySettings:
    """The settings that the environment gives.

    Raises:
        SettingsError: naming the first variable with a bad value.
    """
    for variable, default, _ in _variables():
        # Elsewhere an empty value counts as unset; an empty list could be meant, and its default would surprise.
        if isinstance(default, tuple) and not os.environ.get(variable, variable).strip():
            raise SettingsError(f"{variable}: names nothing; unset it for its default, or name at least one")
    key = _key()
    try:
        settings = ProxySettings.from_environment(
            **({} if key is None else {"api_key": key}),
            codex=CodexSettings.from_environment(),
            cursor=CursorSettings.from_environment(),
        )
    except ValidationError as error:
        first = error.errors()[0]
        # pydantic's title is the name of the class; each class has a prefix of its own.
        prefix = next(model.prefix for model in _MODELS if model.__name__ == error.title)
        raise SettingsError(f"{prefix}{str(first['loc'][0]).upper()}: {first['msg']}") from None
    check_wait(settings, "PROXY_CALL_WAIT_MS", settings.call_wait_ms)
    if not (settings.api_key or settings.insecure or is_loopback(settings.host)):
        raise SettingsError(
            f"PROXY_HOST: {settings.host} can be reached from other machines, and there is no key; "
            "set PROXY_API_KEY or PROXY_API_KEY_FILE, or PROXY_INSECURE=1 to let anybody in"
        )
    return settings


def check_wait(settings: ProxySettings, name: str, wait_ms: int) -> None:
    """Refuse a time for which a silent backend's calls are waited for that is not over before the backend has failed.

    Raises:
        SettingsError: naming both variables.
    """
    idle = settings.idle_timeout_ms
    if idle <= wait_ms:
        raise SettingsError(
            f"PROXY_IDLE_TIMEOUT_MS: {idle} is not above {name}, which is {wait_ms}, so answers with calls would fail; "
            "raise the one or lower the other"
        )


def _key() -> SecretStr | None:
    """The key of the environment, or of the file that it names; None where neither is set.

    Raises:
        SettingsError: the key is empty, or no header can carry it as it is.
    """
    name, key = "PROXY_API_KEY", os.environ.get("PROXY_API_KEY")
    file = os.environ.get("PROXY_API_KEY_FILE")
    if file:
        if key is not None:
            raise SettingsError("PROXY_API_KEY_FILE: PROXY_API_KEY is set, too; keep one of them")
        name = "PROXY_API_KEY_FILE"
        try:
            key = Path(file).read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{name}: {file} cannot be read: {error}") from None
    if key is None:
        return None
    # An empty one is never taken for "no key": a variable that was meant to be filled in would leave the proxy open.
    if fault := key_fault(key):
        raise SettingsError(f"{name}: {fault}{'' if key else '; unset it to ask for none'}")
    return SecretStr(key)


def backend_environment() -> dict[str, str]:
    """The backend's environment: all of ours (it has settings of its own there), but nothing of the proxy's.

    The proxy's key above all: a backend runs commands that a model writes.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith("PROXY_")}


def describe() -> str:
    """One line per variable: name, default, meaning."""
    return "\n".join(f"  {name:<31} {_spelled(default):<14} {meaning}" for name, default, meaning in _variables())


def settings_table() -> str:
    """The same as a Markdown table, for the manual."""
    rows = (f"| `{name}` | {_cell(default)} | {_in_markdown(text)} |" for name, default, text in _variables())
    return "\n".join(("| variable | default | meaning |", "| --- | --- | --- |", *rows))


def _in_markdown(text: str) -> str:
    """With tags as code: Markdown would take them for HTML and show nothing."""
    return re.sub(r"(<[a-z_]+>)", r"`\1`", text)


def _cell(default: object) -> str:
    spelled = _spelled(default)
    return spelled.strip("()") if spelled.startswith("(") else f"`{spelled}`"


def _variables() -> Iterator[tuple[str, object, str]]:
    """Every variable, its default and its meaning."""
    for model in _MODELS:
        for name, field in model.model_fields.items():
            # Without one it is no variable but a group of them (`codex`).
            if field.description:
                # `models` follows the backend; here that is the default one, whatever the environment chooses.
                default = field.get_default(call_default_factory=True, validated_data={"backend": _BACKEND})
                yield model.prefix + name.upper(), default, field.description


def _spelled(value: object) -> str:
    match value:
        case None:
            return "(unset)"
        case bool():
            return str(value).lower()
        case tuple():
            return ",".join(value) or "(none)"
        case "\n":
            return "(newline)"
        case _:
            return str(value)
