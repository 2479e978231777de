"""The options of a run, each defined once: what a person can say of a target, and of how it is certified.

A field of `TargetOptions` or `RunOptions` is one option. Everything else is made of the fields: the options of
`wireproof certify`, the `--wireproof-…` options of the pytest plugin, the keys of a target file and its schema, the
command that asks for the same run again (`command_line`), and the table of the manual. Its annotation says what values
an option takes (see `kinds`). A field of `TargetOptions` that has the name of a field of `Target` becomes that field.
So a new option is one field here, and the code that uses it.

This module reads no file and sends nothing, and imports nothing but the standard library and enumerations of the model:
pytest imports it in every session, whether the plugin is asked for or not.
"""

# No `from __future__ import annotations`: options are made of the annotations themselves, not of their texts.
import shlex
from dataclasses import dataclass
from typing import Annotated

from wireproof.model.capability import Capability
from wireproof.model.dialect import CHATS, ArgumentsMode, Dialect, Surface
from wireproof.model.target import Agent, KeyStyle, Login
from wireproof.model.verdict import VerdictLevel
from wireproof.targets.kinds import (
    BodySize,
    Bytes,
    Count,
    File,
    Folder,
    Header,
    Parameter,
    Port,
    Reason,
    Seconds,
    Slots,
    Variable,
    one_of,
    reasons,
    secret,
    text,
)
from wireproof.targets.option import Options, option

JOBS = 8
"""How many exchanges with a target run at the same time."""
MAX_WAIT = 60.0
"""Seconds. Limits of a rate are often counted by the minute."""
BUNDLED_JOBS = 16
"""With the bundled proxy on its mock: with fewer, most of a run is spent in waiting for its scripts."""


@dataclass(frozen=True, kw_only=True)
class TargetOptions(Options):
    """Which proxy to certify, and what a person declares of it; the bundled one where none is named."""

    url: Annotated[str, text("URL")] | None = option(
        default=None, help="Base URL of the proxy, up to and including /v1."
    )
    # The braces are written as a person must write them; nothing formats this text.
    command: Annotated[str, text("CMD")] | None = option(
        default=None,
        name="launch",
        help="Command that starts the proxy, with the mock as its CODEX_BIN, on 127.0.0.1:{port}. {port} is replaced by"
        " a free port (in --url too), which the variables PORT and PROXY_PORT also hold.",
    )
    codex: File | None = option(
        default=None,
        help="Native binary of a real Codex for the proxy to start instead of the mock. A mock of its model's service"
        " plays the scripts that it can.",
    )
    agent: Agent | None = option(
        default=None,
        name="backend",
        help="The agent behind the proxy. For cursor Wireproof starts a mock of Cursor's agent service; the proxy finds"
        " its address in CURSOR_BASE_URL and a token in CURSOR_TOKEN, and {backend_url} and {backend_token} are"
        " filled in, in the command and in --env. Of a proxy at --url it declares that a mock of this agent runs behind"
        " it already. If omitted: codex where Wireproof starts the proxy; at --url, a model that is paid for, unless an"
        " answer proves that the mock is behind it.",
    )
    gateway: Annotated[str, text("CMD")] | None = option(
        default=None,
        help="Command that starts a gateway on 127.0.0.1:{port}, which is to call an upstream that Wireproof starts."
        " {upstream_url} (it ends in /v1), {upstream_key}, {upstream_host} (host:port) and {port} are filled in, in"
        " the values of --env and --header and in its configuration, too.",
    )
    upstream: Port | None = option(
        default=None,
        help="The gateway at --url calls http://127.0.0.1:PORT/v1 with the key `wireproof`: there Wireproof starts its"
        " upstream, or uses the `wireproof serve` that runs there.",
    )
    login: Login | None = option(
        default=None,
        help="The gateway calls its upstream with a login: the service behind ChatGPT at {login_url}, with an auth file"
        " in the scratch home {login_home}, which CODEX_HOME and CHATGPT_LOCAL_HOME name. {login_token},"
        " {login_account} and {login_refresh_url} are filled in, too.",
    )
    env: tuple[Variable, ...] = option(
        default=(),
        help="Environment variable for the command of --launch or --gateway. Reports show it, so export a secret"
        " instead: the command has all variables of this shell.",
    )
    config_template: File | None = option(
        default=None,
        help="Configuration of the gateway. It is filled in as --gateway says, and {config} in the command and in --env"
        " is the path of the filled file.",
    )
    model: Annotated[str, text("M")] = option(
        default="", help="Model to ask for. If omitted, the first that /models lists."
    )
    # The variable's name and not the key: `command_line` is printed in reports, and other users see a command's
    # words.
    api_key_env: Annotated[str, text("VAR")] | None = option(
        default=None, help="Environment variable that holds the API key of the proxy."
    )
    key_style: KeyStyle = option(
        default=KeyStyle.BEARER,
        help="How requests carry the key: as Authorization: Bearer, in the header api-key or x-api-key, or as the query"
        " parameter key.",
    )
    header: tuple[Header, ...] = option(
        default=(),
        help="Header that each request carries besides its own. NAME=env:VAR reads the value from the environment"
        " variable VAR; no value is ever printed.",
    )
    parameters: tuple[Parameter, ...] = option(
        default=(), name="query", help="Parameter that the query of each request carries, written as for --header."
    )
    dialects: tuple[Dialect, ...] = option(
        default=(), name="dialect", help="Dialect that the proxy speaks. If omitted, all are tried."
    )
    wanted: tuple[Surface, ...] = option(
        default=(), name="surface", help="Surface to judge; what is not named is left out. If omitted, all are tried."
    )
    absences: tuple[Annotated[Reason, reasons("CAPABILITY", tuple(Capability))], ...] = option(
        default=(),
        name="absent",
        help="Capability that the proxy does not have, and why: what asks for it is not applicable where an answer"
        f" lacks it. There are {', '.join(Capability)}.",
    )
    arguments: ArgumentsMode | None = option(
        default=None,
        help="How streams carry the arguments of a call: as fragments to be joined, or repeated from the start in each"
        " chunk. If omitted, this is detected. The report lists the clients that cumulative breaks.",
    )
    default_mode: Annotated[Dialect, one_of(CHATS)] | None = option(
        default=None, help="Output mode of requests that name none; needed to judge that mode."
    )
    keepalive: Seconds | None = option(
        default=None, help="Interval of the proxy's keep-alive comments; needed to judge them."
    )
    idle_timeout: Seconds | None = option(
        default=None, help="How long the proxy lets its backend be silent; needed to judge that limit."
    )
    body_limit: BodySize | None = option(
        default=None, help="Largest request body that the proxy takes; needed to judge its 413 if it takes 20 MiB."
    )
    slots: Slots | None = option(
        default=None, help="How many turns the proxy runs at once; with --launch, needed to judge its 429."
    )
    pace: Seconds | None = option(
        default=None, help="How long a plain answer takes; limits of time grow with it. If omitted, this is measured."
    )
    timeout: Seconds = option(default=10.0, help="How long an exchange may be silent.")
    answer_seconds: Seconds = option(
        default=120.0,
        help="How long an exchange may take in all, however much is sent in it; at least three times the silence that"
        " --timeout allows.",
    )
    answer_bytes: Bytes = option(
        default=6 * 2**20, help="How long an answer may be; what is longer is left, and is a finding."
    )
    start_timeout: Seconds = option(default=30.0, help="How long a launched proxy may take to become ready.")

    @property
    def bundled(self) -> bool:
        """Whether the proxy that comes with Wireproof is asked for: no other is named."""
        return self.url is None and self.command is None and self.gateway is None

    def api_key(self) -> str | None:
        """The key, from the variable that was named; None when none was.

        Raises:
            OptionError: the variable is not set, or holds what no HTTP header can carry.
        """
        return None if self.api_key_env is None else secret(self.api_key_env, "the key")

    def carried(self) -> dict[str, tuple[tuple[str, str], ...]]:
        """The headers and the query parameters of each request, as the fields `headers` and `query` of a target.

        Raises:
            OptionError: a variable that was named is not set, or holds what no HTTP header can carry.
        """
        return {
            "headers": tuple(pair.resolved() for pair in self.header),
            "query": tuple(pair.resolved() for pair in self.parameters),
        }

    def declared_absent(self) -> dict[Capability, str]:
        """The capabilities that the target is said not to have → why."""
        return {Capability(one.name): one.why for one in self.absences}  # type: ignore[call-arg]

    def command_line(self) -> str:
        """The command that certifies the same target again."""
        return shlex.join(["wireproof", "certify", *self.words()])


@dataclass(frozen=True, kw_only=True)
class RunOptions(Options):
    """How to certify: which scenarios, which failures are known, by which level, how many exchanges at a time."""

    only: tuple[Annotated[str, text("NAME")], ...] = option(
        default=(),
        help="Run only this scenario, or those that exercise this requirement. The result is no certificate.",
    )
    known_failing: File | None = option(
        default=None,
        help="File of known failures, `<scenario>:<requirement> <reason>` per line. They still run, and one that passes"
        " fails the run.",
    )
    known: tuple[Annotated[Reason, reasons("SCENARIO:REQUIREMENT")], ...] = option(
        default=(), help="Known failure and why it is accepted, as a line of --known-failing."
    )
    repeat: Count = option(
        default=1,
        help="How many times to run. What is broken in some runs and not in all is reported as flaky, and the run with"
        " the worst result is shown; its exit status is that of all.",
    )
    output: Folder | None = option(
        default=None,
        help="Folder for the result: the report as data, and all transcripts. It is written at every end, also of a run"
        " that is interrupted; an earlier result there is replaced. `wireproof report DIR` renders it.",
    )
    level: VerdictLevel | None = option(
        default=None,
        name="fail-on",
        also=("level",),
        help="Level that decides the exit status: compat fails what would make a real client break, lose or misread"
        " something, strict every broken MUST. The report has both. If omitted: compat where a real model is behind"
        " the proxy, else strict.",
    )
    edition: Annotated[str, text("DATE")] | None = option(
        default=None, help="Edition of the catalogue to judge by. If omitted, the catalogue of this version."
    )
    jobs: Count | None = option(
        default=None,
        help=f"How many exchanges run at the same time. If omitted, {JOBS}; {BUNDLED_JOBS} with the proxy that"
        " comes with Wireproof on its mock.",
    )
    max_requests: Count | None = option(
        default=None,
        help="How many requests may be sent in all, from the first one that finds out what the target is to the last"
        " repeat; what is left is not observed. If omitted, 100 for each run at an endpoint with a model behind it,"
        " without those that are refused and waited for.",
    )
    max_tokens: Count | None = option(
        default=None,
        help="How many tokens all requests and answers may have at most. If omitted, 20000 for each run at an endpoint"
        " with a model behind it.",
    )
    max_seconds: Seconds = option(
        default=3600.0, help="How long the run may drive the target; what is left is not observed."
    )
    max_bytes: Bytes = option(
        default=64 * 2**20, help="How many bytes all answers together may have; what is left is not observed."
    )
    max_wait: Seconds = option(
        default=MAX_WAIT,
        help="How long a target that does not run here may let the run wait: by Retry-After, or since it has served"
        " nothing. A longer wait ends the run with its result so far.",
    )
    rate: Count | None = option(default=None, help="How many requests a minute the run may send.")
    yes: bool = option(
        default=False, help="Accept a cost above 100 requests or 20000 tokens at an endpoint with a model behind it."
    )
    allow_partial: bool = option(
        default=False, help="Accept a partial result: exit 0 although some MUSTs could not be observed."
    )
