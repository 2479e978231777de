"""The options of a run, each defined once: what a person can say of a target, and of how it is certified.

A field of `TargetOptions` or `RunOptions` is one option. Everything else is made of the fields: the options of
`wireproof certify`, the `--wireproof-…` options of the pytest plugin, the keys of a target file and its schema, the
command
that asks for the same run again (`command_line`), and the table of the manual. A field of `TargetOptions` that has the
name of a field of `Target` becomes that field. So a new option is one field here, and the code that uses it.

This module reads no file and sends nothing, and imports nothing but the standard library and enumerations of the model:
pytest imports it in every session, whether the plugin is asked for or not.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof.model.capability import Capability
from wireproof.model.dialect import CHATS, Arguments, Dialect, Surface
from wireproof.model.target import Agent, KeyStyle
from wireproof.model.verdict import VerdictLevel
from wireproof.targets.kinds import (
    Count,
    File,
    Flag,
    Folder,
    OneOf,
    Pair,
    Pairs,
    Port,
    Reason,
    Reasons,
    Seconds,
    Text,
    Variable,
    secret,
)
from wireproof.targets.option import Options, option

if TYPE_CHECKING:
    from pathlib import Path

JOBS = 8
"""How many exchanges with a target run at the same time."""
BUNDLED_JOBS = 16
"""With the bundled proxy on its mock: with fewer, most of a run is spent in waiting for its scripts."""


@dataclass(frozen=True, kw_only=True)
class TargetOptions(Options):
    """Which proxy to certify, and what a person declares of it; the bundled one where none is named."""

    url: str | None = field(
        default=None, metadata=option(kind=Text(metavar="URL"), help="Base URL of the proxy, up to and including /v1.")
    )
    command: str | None = field(
        default=None,
        metadata=option(
            name="launch",
            kind=Text(metavar="CMD"),
            # The braces are written as a person must write them; nothing formats this text.
            help="Command that starts the proxy, with the mock as its CODEX_BIN, on 127.0.0.1:{port}. {port} is"
            " replaced by a free port (in --url too), which the variables PORT and PROXY_PORT also hold.",
        ),
    )
    codex: Path | None = field(
        default=None,
        metadata=option(
            kind=File(),
            help="Native binary of a real Codex for the proxy to start instead of the mock. A mock of its model's"
            " service plays the scripts that it can.",
        ),
    )
    agent: Agent = field(
        default=Agent.CODEX,
        metadata=option(
            name="backend",
            kind=OneOf(tuple(Agent)),
            help="The agent behind the proxy. For cursor Wireproof starts a mock of Cursor's agent service; the"
            " proxy finds"
            " its address in CURSOR_BASE_URL and a token in CURSOR_TOKEN, and {backend_url} and {backend_token} are"
            " filled in, in the command and in --env. A proxy at --url calls a mock that runs already.",
        ),
    )
    gateway: str | None = field(
        default=None,
        metadata=option(
            kind=Text(metavar="CMD"),
            help="Command that starts a gateway on 127.0.0.1:{port}, which is to call an upstream that Wireproof"
            " starts."
            " {upstream_url} (it ends in /v1), {upstream_key}, {upstream_host} (host:port) and {port} are filled in, in"
            " the values of --env and --header and in its configuration, too.",
        ),
    )
    upstream: int | None = field(
        default=None,
        metadata=option(
            kind=Port(),
            help="The gateway at --url calls http://127.0.0.1:PORT/v1 with the key `wireproof`: there Wireproof"
            " starts its"
            " upstream, or uses the `wireproof serve` that runs there.",
        ),
    )
    env: tuple[str, ...] = field(
        default=(),
        metadata=option(
            kind=Variable(),
            repeatable=True,
            help="Environment variable for the command of --launch or --gateway. Reports show it, so export a secret"
            " instead: the command has all variables of this shell.",
        ),
    )
    config_template: Path | None = field(
        default=None,
        metadata=option(
            kind=File(),
            help="Configuration of the gateway. It is filled in as --gateway says, and {config} in the command and in"
            " --env is the path of the filled file.",
        ),
    )
    model: str = field(
        default="",
        metadata=option(kind=Text(metavar="M"), help="Model to ask for. If omitted, the first that /models lists."),
    )
    api_key_env: str | None = field(
        default=None,
        # The variable's name and not the key: `command_line` is printed in reports, and other users see a command's
        # words.
        metadata=option(kind=Text(metavar="VAR"), help="Environment variable that holds the API key of the proxy."),
    )
    key_style: KeyStyle = field(
        default=KeyStyle.BEARER,
        metadata=option(
            kind=OneOf(tuple(KeyStyle)),
            help="How requests carry the key: as Authorization: Bearer, in the header api-key or x-api-key, or as the"
            " query parameter key.",
        ),
    )
    header: tuple[Pair, ...] = field(
        default=(),
        metadata=option(
            kind=Pairs(header=True),
            repeatable=True,
            help="Header that each request carries besides its own. NAME=env:VAR reads the value from the environment"
            " variable VAR; no value is ever printed.",
        ),
    )
    parameters: tuple[Pair, ...] = field(
        default=(),
        metadata=option(
            name="query",
            kind=Pairs(header=False),
            repeatable=True,
            help="Parameter that the query of each request carries, written as for --header.",
        ),
    )
    dialects: tuple[Dialect, ...] = field(
        default=(),
        metadata=option(
            name="dialect",
            kind=OneOf(tuple(Dialect)),
            repeatable=True,
            help="Dialect that the proxy speaks. If omitted, all are tried.",
        ),
    )
    wanted: tuple[Surface, ...] = field(
        default=(),
        metadata=option(
            name="surface",
            kind=OneOf(tuple(Surface)),
            repeatable=True,
            help="Surface to judge; what is not named is left out. If omitted, all are tried.",
        ),
    )
    absences: tuple[Reason, ...] = field(
        default=(),
        metadata=option(
            name="absent",
            kind=Reasons(what="CAPABILITY", names=tuple(Capability)),
            repeatable=True,
            help="Capability that the proxy does not have, and why: what asks for it is not applicable where an answer"
            f" lacks it. There are {', '.join(Capability)}.",
        ),
    )
    arguments: Arguments | None = field(
        default=None,
        metadata=option(
            kind=OneOf(tuple(Arguments)),
            help="How streams carry the arguments of a call: as fragments to be joined, or repeated from the start in"
            " each chunk. If omitted, this is detected. The report lists the clients that cumulative breaks.",
        ),
    )
    default_mode: Dialect | None = field(
        default=None,
        metadata=option(kind=OneOf(CHATS), help="Output mode of requests that name none; needed to judge that mode."),
    )
    keepalive: float | None = field(
        default=None,
        metadata=option(kind=Seconds(), help="Interval of the proxy's keep-alive comments; needed to judge them."),
    )
    idle_timeout: float | None = field(
        default=None,
        metadata=option(
            kind=Seconds(), help="How long the proxy lets its backend be silent; needed to judge that limit."
        ),
    )
    body_limit: int | None = field(
        default=None,
        metadata=option(
            kind=Count(metavar="BYTES"),
            help="Largest request body that the proxy takes; needed to judge its 413 if it takes 20 MiB.",
        ),
    )
    slots: int | None = field(
        default=None,
        metadata=option(
            kind=Count(), help="How many turns the proxy runs at once; with --launch, needed to judge its 429."
        ),
    )
    pace: float | None = field(
        default=None,
        metadata=option(
            kind=Seconds(),
            help="How long a plain answer takes; limits of time grow with it. If omitted, this is measured.",
        ),
    )
    timeout: float = field(default=10.0, metadata=option(kind=Seconds(), help="How long an exchange may be silent."))
    answer_seconds: float = field(
        default=120.0,
        metadata=option(
            kind=Seconds(),
            help="How long an exchange may take in all, however much is sent in it; at least three times the silence"
            " that --timeout allows.",
        ),
    )
    answer_bytes: int = field(
        default=6 * 2**20,
        metadata=option(
            kind=Count(metavar="BYTES"), help="How long an answer may be; what is longer is left, and is a finding."
        ),
    )
    start_timeout: float = field(
        default=30.0, metadata=option(kind=Seconds(), help="How long a launched proxy may take to become ready.")
    )

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

    only: tuple[str, ...] = field(
        default=(),
        metadata=option(
            kind=Text(metavar="NAME"),
            repeatable=True,
            help="Run only this scenario, or those that exercise this requirement. The result is no certificate.",
        ),
    )
    known_failing: Path | None = field(
        default=None,
        metadata=option(
            kind=File(),
            help="File of known failures, `<scenario>:<requirement> <reason>` per line. They still run, and one that"
            " passes fails the run.",
        ),
    )
    known: tuple[Reason, ...] = field(
        default=(),
        metadata=option(
            kind=Reasons(what="SCENARIO:REQUIREMENT"),
            repeatable=True,
            help="Known failure and why it is accepted, as a line of --known-failing.",
        ),
    )
    repeat: int = field(
        default=1,
        metadata=option(
            kind=Count(),
            help="How many times to run. What is broken in some runs and not in all is reported as flaky, and the run"
            " with the worst result is shown; its exit status is that of all.",
        ),
    )
    output: Path | None = field(
        default=None,
        metadata=option(
            kind=Folder(),
            help="Folder for the result: the report as data, and all transcripts. It is written at every end, also of a"
            " run that is interrupted; an earlier result there is replaced. `wireproof report DIR` renders it.",
        ),
    )
    level: VerdictLevel | None = field(
        default=None,
        metadata=option(
            name="fail-on",
            also=("level",),
            kind=OneOf(tuple(VerdictLevel)),
            help="Level that decides the exit status: compat fails what would make a real client break, lose or misread"
            " something, strict every broken MUST. The report has both. If omitted: compat where a real model is behind"
            " the proxy, else strict.",
        ),
    )
    edition: str | None = field(
        default=None,
        metadata=option(
            kind=Text(metavar="DATE"),
            help="Edition of the catalogue to judge by. If omitted, the catalogue of this version.",
        ),
    )
    jobs: int | None = field(
        default=None,
        metadata=option(
            kind=Count(),
            help=f"How many exchanges run at the same time. If omitted, {JOBS}; {BUNDLED_JOBS} with the proxy that"
            " comes with Wireproof on its mock.",
        ),
    )
    max_requests: int | None = field(
        default=None,
        metadata=option(
            kind=Count(),
            help="How many requests the run may send; what is left is not observed. If omitted, 100 to an endpoint with"
            " a model behind it.",
        ),
    )
    max_tokens: int | None = field(
        default=None,
        metadata=option(
            kind=Count(),
            help="How many tokens the run's requests and answers may have at most. If omitted, 20000 at an endpoint"
            " with a model behind it.",
        ),
    )
    max_seconds: float = field(
        default=3600.0,
        metadata=option(kind=Seconds(), help="How long the run may drive the target; what is left is not observed."),
    )
    max_bytes: int = field(
        default=64 * 2**20,
        metadata=option(
            kind=Count(metavar="BYTES"),
            help="How many bytes all answers together may have; what is left is not observed.",
        ),
    )
    rate: int | None = field(
        default=None, metadata=option(kind=Count(), help="How many requests a minute the run may send.")
    )
    yes: bool = field(
        default=False,
        metadata=option(
            kind=Flag(), help="Accept a cost above 100 requests or 20000 tokens at an endpoint with a model behind it."
        ),
    )
    allow_partial: bool = field(
        default=False,
        metadata=option(kind=Flag(), help="Accept a partial result: exit 0 although some MUSTs could not be observed."),
    )
