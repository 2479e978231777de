from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from wireproof.cli import certify, root
from wireproof.model.dialect import ArgumentsMode, Dialect, Surface
from wireproof.model.target import Agent, KeyStyle, Login
from wireproof.model.verdict import VerdictLevel
from wireproof.targets.kinds import OptionError, Pair, Reason
from wireproof.targets.option import find
from wireproof.targets.options import RunOptions, TargetOptions
from wireproof.targets.validity import check

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof.targets.option import Options

OPTIONS = (*TargetOptions.options(), *RunOptions.options())
ALL = TargetOptions(
    url="http://x:1/v1", command="my proxy {port}", codex=Path(__file__), agent=Agent.CURSOR,
    gateway="my gateway {config}", upstream=9,
    login=Login.CHATGPT, env=("A=1", "B="), config_template=Path(__file__), model="a b", api_key_env="K",
    key_style=KeyStyle.QUERY, header=(Pair("x-a", "env:A"), Pair("x-b", "$B")), parameters=(Pair("v", "env:V"),),
    dialects=(Dialect.OPENAI_JSON, Dialect.FUNCTION_CALL), arguments=ArgumentsMode.CUMULATIVE,
    wanted=(Surface.CHAT,), absences=(Reason("images", "no vision"),), answer_seconds=7.0, answer_bytes=8,
    default_mode=Dialect.OBSIDIAN_XML, keepalive=1.5, idle_timeout=2.0, body_limit=3, slots=4, pace=0.5, timeout=5.0,
    start_timeout=6.0,
)  # fmt: skip
"""Every option, none with its default."""
RUN = RunOptions(
    only=("text-hello", "call-one"),
    known_failing=Path(__file__),
    known=(Reason("text-hello:chat.stream.text", "a = b"),),
    repeat=2,
    output=Path(__file__).parent,
    level=VerdictLevel.COMPAT,
    edition="2026-11-22",
    jobs=3,
    max_wait=9.0,
    max_requests=4,
    max_tokens=5,
    rate=6,
    max_seconds=7.0,
    max_bytes=8,
    yes=True,
    allow_partial=True,
)


def test_the_examples_leave_no_option_out() -> None:
    for example, default in ((ALL, TargetOptions()), (RUN, RunOptions())):
        assert not [
            one.name for one in dataclasses.fields(example) if getattr(example, one.name) == getattr(default, one.name)
        ]


def test_every_option_has_a_name_of_its_own_and_a_help_of_whole_sentences() -> None:
    names = [option.name for option in OPTIONS]
    assert len(set(names)) == len(names)
    assert [option.name for option in OPTIONS if not (option.help[0].isupper() and option.help.endswith("."))] == []


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (TargetOptions(), "wireproof certify"),
        (
            TargetOptions(url="http://x/v1", model="a b", api_key_env="K", keepalive=1.5),
            "wireproof certify --url http://x/v1 --model 'a b' --api-key-env K --keepalive 1.5",
        ),
        (TargetOptions(command="my proxy {port}"), "wireproof certify --launch 'my proxy {port}'"),
        (TargetOptions(timeout=10.0, start_timeout=31.0), "wireproof certify --start-timeout 31.0"),
        (
            TargetOptions(dialects=(Dialect.OPENAI_JSON, Dialect.FUNCTION_CALL), arguments=ArgumentsMode.CUMULATIVE),
            "wireproof certify --dialect openai-json --dialect function-call --arguments cumulative",
        ),
        # What may be secret is shown only as the name of the variable that holds it.
        (
            TargetOptions(header=(Pair("cookie", "s3cr3t"), Pair("x", "$HELD")), parameters=(Pair("sig", "s3cr3t"),)),
            "wireproof certify --header 'cookie=***' --header 'x=$HELD' --query 'sig=***'",
        ),
    ],
)
def test_the_command_line_leaves_out_what_has_its_default(options: TargetOptions, line: str) -> None:
    assert options.command_line() == line


def test_the_command_line_asks_for_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Options] = []

    def keep(every: Sequence[Any], _form: str) -> int:
        asked.extend(options for _, *both in every for options in both)
        return 0

    monkeypatch.setattr(certify, "_certify_all", keep)
    assert CliRunner().invoke(root.root, ["certify", *ALL.words(), *RUN.words()]).exit_code == 0
    assert asked == [ALL, RUN]


def read(kind: type[Options], data: Mapping[str, Any]) -> Options:
    """The options that plain data give, as a target file does."""
    known = {name: option for option in kind.options() for name in option.names}
    found = {find(name, known): value for name, value in data.items()}
    return kind(**{option.field: option.read_data(value) for option, value in found.items()})


def test_a_mapping_gives_every_option_by_its_name() -> None:
    data = {
        "url": "http://x:1/v1", "launch": "my proxy {port}", "codex": __file__, "gateway": "my gateway {config}",
        "backend": "cursor", "upstream": 9, "login": "chatgpt", "env": ["A=1", "B="], "config-template": __file__,
        "model": "a b", "api-key-env": "K",
        "key-style": "query", "header": ["x-a=env:A", "x-b=$B"], "query": ["v=env:V"],
        "dialect": ["openai-json", "function-call"], "arguments": "cumulative",
        "surface": ["chat"], "absent": {"images": "no vision"}, "answer-seconds": 7, "answer-bytes": 8,
        "default-mode": "obsidian-xml",
        "keepalive": 1.5, "idle-timeout": 2, "body-limit": 3, "slots": 4, "pace": 0.5, "timeout": 5.0,
        "start-timeout": 6,
    }  # fmt: skip
    assert read(TargetOptions, data) == ALL
    assert read(TargetOptions, json.loads(json.dumps(data))) == ALL
    run = {
        "only": ["text-hello", "call-one"], "known-failing": __file__, "output": str(Path(__file__).parent),
        "fail-on": "compat", "edition": "2026-11-22", "jobs": 3,
        "known": {"text-hello:chat.stream.text": "a = b"}, "repeat": 2, "max-seconds": 7, "max-bytes": 8,
        "max-requests": 4, "max-tokens": 5, "max-wait": 9, "rate": 6, "yes": True, "allow-partial": True,
    }  # fmt: skip
    assert read(RunOptions, run) == RUN
    assert read(TargetOptions, {}) == TargetOptions()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"keepalvie": 1}, "'keepalvie' is not an option of a target; did you mean keepalive?"),
        ({"body_limit": 1}, "'body_limit' is not an option of a target; did you mean body-limit?"),
        ({"command": "x"}, "'command' is not an option of a target; there are url, launch, codex, "),
        ({"keepalive": "soon"}, "keepalive is 'soon'; it should be a time in seconds, from 0.01 to 1000000000"),
        ({"keepalive": 0}, "keepalive is 0; it should be a time in seconds, from 0.01 to 1000000000"),
        ({"keepalive": True}, "keepalive is True; it should be a time in seconds, from 0.01 to 1000000000"),
        ({"timeout": float("nan")}, "timeout is nan; it should be a time in seconds, from 0.01 to 1000000000"),
        ({"timeout": float("inf")}, "timeout is inf; it should be a time in seconds, from 0.01 to 1000000000"),
        ({"slots": 0}, "slots is 0; it should be a whole number, from 1 to 10000"),
        ({"slots": 10**9}, "slots is 1000000000; it should be a whole number, from 1 to 10000"),
        ({"body-limit": 10**12}, "body-limit is 1000000000000; it should be a whole number, from 1 to 1073741824"),
        ({"slots": True}, "slots is True; it should be a whole number, from 1 to 10000"),
        ({"slots": 1.5}, "slots is 1.5; it should be a whole number, from 1 to 10000"),
        ({"slots": "two"}, "slots is 'two'; it should be a whole number, from 1 to 10000"),
        ({"upstream": 65536}, "upstream is 65536; it should be a port, from 1 to 65535"),
        ({"upstream": 0}, "upstream is 0; it should be a port, from 1 to 65535"),
        ({"upstream": "http"}, "upstream is 'http'; it should be a port, from 1 to 65535"),
        ({"env": ["A"]}, "env is 'A'; it should be the name of a variable, = and its value"),
        ({"env": ["=A"]}, "env is '=A'; it should be the name of a variable, = and its value"),
        ({"env": "A=1"}, "env is 'A=1'; it should be a list or a table, each the name of a variable, = and its value"),
        ({"config-template": "/no/such/file"}, "config-template is '/no/such/file'; it should be a file that exists"),
        ({"model": 4}, "model is 4; it should be a text"),
        ({"codex": "/no/such/codex"}, "codex is '/no/such/codex'; it should be a file that exists"),
        ({"codex": 7}, "codex is 7; it should be a file that exists"),
        ({"arguments": "whole"}, "arguments is 'whole'; it should be one of incremental, cumulative"),
        (
            {"default-mode": "responses"},
            "default-mode is 'responses'; it should be one of openai-json, obsidian-xml, f",
        ),
        ({"dialect": "openai-json"}, "dialect is 'openai-json'; it should be a list, each one of openai-json, "),
        ({"dialect": ["xml"]}, "dialect is 'xml'; it should be one of openai-json, "),
        ({"key-style": "basic"}, "key-style is 'basic'; it should be one of bearer, api-key, x-api-key, query"),
        # Nothing of what may be secret is repeated.
        ({"header": ["Authorization: Bearer s3cr3t"]}, "header is ***; it should be NAME=VALUE, printable ASCII"),
        ({"header": ["a b=s3cr3t"]}, "header is ***; it should be NAME=VALUE, printable ASCII"),
        ({"header": ["x=s3cr3t\n"]}, "header is ***; it should be NAME=VALUE, printable ASCII"),
        ({"header": [7]}, "header is ***; it should be NAME=VALUE, printable ASCII"),
        ({"query": ["=s3cr3t"]}, "query is ***; it should be NAME=VALUE, printable ASCII"),
    ],
)
def test_a_mapping_that_cannot_be_meant_is_refused(data: Any, message: str) -> None:
    with pytest.raises(OptionError) as raised:
        read(TargetOptions, data)
    assert str(raised.value).startswith(message)


def test_a_flag_is_true_or_false() -> None:
    with pytest.raises(OptionError, match="allow-partial is 'yes'; it should be true or false"):
        read(RunOptions, {"allow-partial": "yes"})


@pytest.mark.parametrize(
    ("options", "bundled"),
    [
        ({}, True),
        ({"model": "m"}, True),
        ({"url": "http://x/v1"}, False),
        ({"command": "x"}, False),
        ({"gateway": "x"}, False),
    ],
)
def test_without_a_proxy_of_ones_own_the_bundled_one_is_meant(options: Any, *, bundled: bool) -> None:
    assert TargetOptions(**options).bundled is bundled


def test_what_a_request_carries_is_read_from_the_environment_where_it_names_a_variable(monkeypatch: Any) -> None:
    for name in "ABV":
        monkeypatch.setenv(name, name.lower())
    literal = TargetOptions(header=(Pair("x", "a=b $C"), Pair("y", "")), parameters=(Pair("z", "env: A"),))
    assert ALL.carried() == {"headers": (("x-a", "a"), ("x-b", "b")), "query": (("v", "v"),)}
    assert literal.carried() == {"headers": (("x", "a=b $C"), ("y", "")), "query": (("z", "env: A"),)}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "the environment variable HELD, which should hold the value of x, is not set"),
        ("a\nb", "the value of x in the environment variable HELD is not printable ASCII"),
    ],
)
def test_a_value_that_cannot_be_sent_is_refused(monkeypatch: Any, value: str | None, message: str) -> None:
    monkeypatch.delenv("HELD", raising=False)
    if value is not None:
        monkeypatch.setenv("HELD", value)
    with pytest.raises(OptionError) as raised:
        TargetOptions(header=(Pair("x", "env:HELD"),)).carried()
    assert str(raised.value) == message


def test_a_pair_shows_no_secret() -> None:
    assert "s3cr3t" not in f"{Pair('x', 's3cr3t')!r} {Pair('x', 's3cr3t')}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gateway": " "}, "the command of --gateway is empty"),
        ({"gateway": "node 'x"}, 'the command "node \'x" cannot be read: No closing quotation'),
        ({"gateway": "x", "command": "x"}, "--gateway and --launch both start the target: leave one away"),
        ({"gateway": "x", "codex": Path("c")}, "a gateway calls an upstream and starts no Codex: leave --codex away"),
        ({"url": "http://x/v1", "upstream": 9, "codex": Path("c")}, "a gateway calls an upstream and starts no Codex"),
        ({"codex": Path("c"), "agent": Agent.CURSOR}, "a real Codex is no Cursor: leave --codex or --backend away"),
        ({"gateway": "x", "agent": Agent.CURSOR}, "a gateway calls an upstream and no agent: leave --backend away"),
        ({"upstream": 9}, "--upstream is for a gateway that runs already: name it with --url, without a command"),
        ({"url": "http://x/v1", "upstream": 9, "gateway": "x"}, "--upstream is for a gateway that runs already"),
        ({"env": ("A=1",)}, "--env is for a target that Wireproof starts, with --launch or --gateway"),
        ({"url": "http://x/v1", "env": ("A=1",)}, "--env is for a target that Wireproof starts"),
        ({"command": "x", "config_template": Path("c")}, "--config-template is for a gateway that Wireproof starts"),
    ],
)
def test_options_that_exclude_each_other_are_refused(options: Any, message: str) -> None:
    with pytest.raises(OptionError) as raised:
        check(TargetOptions(**options))
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    "options",
    [
        {"gateway": "x {port}", "env": ("A=1",), "config_template": Path("c"), "url": "http://127.0.0.1:{port}/v1"},
        {"url": "http://x/v1", "upstream": 9},
        {"command": "x", "env": ("A=1",)},
    ],
)
def test_options_that_belong_together_are_taken(options: Any) -> None:
    check(TargetOptions(**options))


def test_the_level_may_be_named_as_such() -> None:
    assert read(RunOptions, {"level": "compat"}) == read(RunOptions, {"fail-on": "compat"})
    for name in ("--level", "--fail-on"):
        done = CliRunner().invoke(root.root, ["certify", name, "lenient"])
        assert (done.exit_code, "'lenient' should be one of compat, strict" in done.output) == (2, True)
