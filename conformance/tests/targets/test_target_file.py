from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from click.testing import CliRunner

from wireproof.cli import certify, root
from wireproof.cli.plan import plan
from wireproof.model.dialect import Dialect, Surface
from wireproof.model.verdict import VerdictLevel
from wireproof.scenarios.live import LIVE
from wireproof.targets.kinds import Pair, Reason
from wireproof.targets.options import RunOptions, TargetOptions
from wireproof.targets.target_file import OPTIONS, TargetFileError, line_of, load, merged, schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof.targets.option import Option

    Write = Callable[..., Path]

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "targets").glob("*.toml"))
"""The target files of well-known vendors."""
WHOLE = """
name = "ours"
launch = "python server.py --port {port}"
model = "m"
api-key-env = "OUR_KEY"
surface = ["chat"]
dialect = ["openai-json"]
config-template = "config.yaml"
output = "results"
keepalive = 15
timeout = 2.5
jobs = 2
repeat = 3
fail-on = "compat"
yes = true

[env]
MODE = "test"

[header]
x-tenant = "blue"
authorization = "env:OUR_HEADER"

[absent]
images = "the backend has no eyes"

[known]
"text-hello:chat.stream.text" = "issue 7"
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def made(text: str | bytes, name: str = "wireproof.toml") -> Path:
        (tmp_path / "config.yaml").write_text("a: 1")
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return made


def refused(path: Path) -> str:
    """The message about a file, without the folder it is in."""
    with pytest.raises(TargetFileError) as caught:
        load(path)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(f"{path.parent}/", "")


def test_a_file_gives_options_of_the_target_and_of_the_run(write: Write) -> None:
    path = write(WHOLE)
    file = load(path)
    target, run = merged(file, {})
    assert file.name == "ours"
    assert (target.command, target.model, target.api_key_env) == ("python server.py --port {port}", "m", "OUR_KEY")
    assert (target.wanted, target.dialects) == ((Surface.CHAT,), (Dialect.OPENAI_JSON,))
    assert (target.env, target.keepalive, target.timeout) == (("MODE=test",), 15.0, 2.5)
    assert target.header == (Pair("x-tenant", "blue"), Pair("authorization", "env:OUR_HEADER"))
    assert target.absences == (Reason("images", "the backend has no eyes"),)
    assert (run.jobs, run.repeat, run.level, run.yes) == (2, 3, VerdictLevel.COMPAT, True)
    assert run.known == (Reason("text-hello:chat.stream.text", "issue 7"),)


def test_paths_are_seen_from_the_folder_of_the_file(write: Write) -> None:
    path = write(WHOLE)
    target, run = merged(load(path), {})
    assert (target.config_template, run.output) == (path.parent / "config.yaml", path.parent / "results")


def test_what_stands_on_the_command_line_overrides_the_file(write: Write) -> None:
    given = {
        "model": "other",
        "keepalive": None,
        "dialects": (),
        "wanted": (Surface.RESPONSES,),
        "jobs": 9,
        "yes": None,
    }
    target, run = merged(load(write(WHOLE)), given)
    assert (target.model, target.keepalive, run.jobs, run.yes) == ("other", 15.0, 9, True)
    assert (target.dialects, target.wanted) == ((Dialect.OPENAI_JSON,), (Surface.RESPONSES,))


FLAGS = [one for one in (*TargetOptions.options(), *RunOptions.options()) if one.off]


@pytest.mark.parametrize("option", FLAGS, ids=lambda one: one.name)
@pytest.mark.parametrize(
    ("said", "expected"), [("", True), ("--{name}", True), ("--no-{name}", False), ("--no-{name} --{name}", True)]
)
def test_a_flag_of_the_file_is_turned_off_on_the_command_line(
    write: Write, monkeypatch: pytest.MonkeyPatch, option: Option, said: str, *, expected: bool
) -> None:
    file = write(f'url = "http://x/v1"\n{option.name} = true\n')
    asked: list[Any] = []

    def certified(every: list[Any], _form: str) -> int:
        asked.extend(every)
        return 0

    monkeypatch.setattr(certify, "_certify_all", certified)
    words = ["certify", "--target", str(file), *said.format(name=option.name).split()]
    assert CliRunner().invoke(root.root, words).exit_code == 0
    [(_, _, run)] = asked
    assert getattr(run, option.field) is expected


def test_without_a_file_a_flag_that_is_turned_off_is_off() -> None:
    assert [option.name for option in FLAGS] == ["yes", "allow-partial"]
    assert merged(None, {option.field: False for option in FLAGS})[1] == RunOptions()


def test_without_a_file_the_command_line_is_all(write: Write) -> None:
    target, run = merged(None, {"url": "http://x/v1", "jobs": 2})
    assert (target.url, target.model, run.jobs, run.repeat) == ("http://x/v1", "", 2, 1)
    assert load(write("")).values == {}


def test_a_file_may_be_as_editors_on_windows_write_it(write: Write) -> None:
    assert load(write(b'\xef\xbb\xbfurl = "http://x/v1"\r\njobs = 2\r\n')).values == {"url": "http://x/v1", "jobs": 2}


def test_a_target_without_a_name_is_called_as_its_file_or_folder(write: Write) -> None:
    assert load(write("", "litellm.toml")).name == "litellm"
    path = write("")
    assert load(path).name == path.parent.name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('url = "http://x/v1\n', "wireproof.toml:1: this is not TOML: illegal character '\\n'; each line should be"),
        ("url = [\n1,\n", "wireproof.toml:2: this is not TOML: invalid value"),
        ("url = http://x\n", "wireproof.toml:1: this is not TOML: invalid value"),
        ('url = "a"\nurl = "b"\n', "wireproof.toml:2: this is not TOML: cannot overwrite a value"),
        (
            "# why\n\nkeepalvie = 1\n",
            "wireproof.toml:3: 'keepalvie' is not an option of a target; did you mean keepalive?",
        ),
        (f"model = 'm'\njobs = {'9' * 5000}\nyes = 1", "wireproof.toml:2: this is not TOML: a value is too long"),
        ('output = "a\\u0000b"\n', "it should have no NUL character"),
        ('[env]\nA = "\\u0000"\n', "wireproof.toml:1: env is 'A=\\x00'; it should have no NUL character"),
        ("# one\u2028line\nkeepalvie = 1\n", "wireproof.toml:2: 'keepalvie' is not an option of a target"),
        ("[heder]\nx = 'y'\n", "wireproof.toml:1: 'heder' is not an option of a target; did you mean header?"),
        ("api-key = 'sk-123'\n", "wireproof.toml:1: 'api-key' is not an option of a target; did you mean api-key-env?"),
        ("zzzz = 1\n", "wireproof.toml:1: 'zzzz' is not an option of a target; there are url, launch, "),
        ("name = 1\n", "wireproof.toml:1: name is 1; it should be a text"),
        ('model = "m"\njobs = "8"\n', "wireproof.toml:2: jobs is '8'; it should be a whole number, at least 1"),
        ("jobs = 0\n", "wireproof.toml:1: jobs is 0; it should be a whole number, at least 1"),
        ("jobs = true\n", "wireproof.toml:1: jobs is True; it should be a whole number, at least 1"),
        ("jobs = 2.5\n", "wireproof.toml:1: jobs is 2.5; it should be a whole number, at least 1"),
        ("timeout = nan\n", "wireproof.toml:1: timeout is nan; it should be a time in seconds, from 0.01 to 1"),
        ("timeout = 2026-01-01\n", "timeout is datetime.date(2026, 1, 1); it should be a time in seconds"),
        ("yes = 1\n", "wireproof.toml:1: yes is 1; it should be true or false"),
        ("model = 1\n", "wireproof.toml:1: model is 1; it should be a text"),
        ('dialect = "xml"\n', "wireproof.toml:1: dialect is 'xml'; it should be a list, each one of openai-json, "),
        ('a-comment = 1\ndialect = [\n"xml",\n]\n', "wireproof.toml:1: 'a-comment' is not an option"),
        (
            '# x\ndialect = [\n  "openai-json",\n  "xml",\n]\n',
            "wireproof.toml:2: dialect is 'xml'; it should be one of",
        ),
        ('known-failing = "none.txt"\n', "none.txt'; it should be a file that exists"),
        ("[absent]\neyes = 'none'\n", "wireproof.toml:1: absent is 'eyes=none'; it should be CAPABILITY=REASON; there"),
        ("[absent]\nimages = ' '\n", "it should be CAPABILITY=REASON"),
        ("[env]\nA = 1\n", "wireproof.toml:1: env is 1; it should be the name of a variable, = and its value"),
        ("[known]\nx = 1\n", "wireproof.toml:1: known is 1; it should be SCENARIO:REQUIREMENT=REASON"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(write: Write, text: str, message: str) -> None:
    assert message in refused(write(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'model = "m"\nurl = "http://me:s3cr3t@x/v1"\n',
            "wireproof.toml:2: url holds a password; a target file holds no",
        ),
        ('[header]\nAuthorization = "Bearer s3cr3t"\n', "header Authorization holds a value; a target file holds no"),
        (
            'header = ["x-api-key=s3cr3t"]\n',
            "header x-api-key holds a value; a target file holds no secret",
        ),
        ('[query]\nkey = "s3cr3t"\n', "query key holds a value; a target file holds no secret: write env:VARIABLE"),
        ('api-key = "s3cr3t"\n', "did you mean api-key-env?"),
        ("[header]\nx-api-key = 's3cr3t\u00e9'\n", "it should be NAME=VALUE, printable ASCII"),
    ],
)
def test_a_file_holds_no_secret_and_the_message_does_not_either(write: Write, text: str, message: str) -> None:
    said = refused(write(text))
    assert message in said
    assert "s3cr3t" not in said


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path, write: Write) -> None:
    assert refused(tmp_path / "none.toml") == "none.toml does not exist; `wireproof init` writes a target file"
    assert "cannot be read: is a directory" in refused(tmp_path)
    assert "is not UTF-8, as TOML must be" in refused(write(b'model = "\xff"\n'))
    assert "this is not TOML" in refused(write("a = " + "[" * 100_000))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\n", 1),
        ('\n# x = 1\ny = """\nx = 2\n"""\n"x" = 1\n', 6),
        ("y = 1\nx.z = 1\n", 2),
        ("y = [\n1,\n]\n\n[x]\nz = 1\n", 5),
        ("y = 1\nx = [\n1,\n]\n", 2),
    ],
)
def test_the_line_of_a_key_is_where_it_begins(text: str, line: int) -> None:
    assert line_of(text, "x") == line


def test_the_schema_takes_what_is_read_and_refuses_what_is_not(write: Write) -> None:
    import tomllib  # noqa: PLC0415 (only here)

    check = jsonschema.Draft202012Validator(schema())
    check.check_schema(schema())
    assert list(check.iter_errors(tomllib.loads(WHOLE))) == []
    wrong: list[dict[str, Any]] = [
        {"keepalvie": 1}, {"jobs": "8"}, {"jobs": 0}, {"dialect": "xml"}, {"dialect": ["xml"]}, {"yes": 1},
        {"env": ["A"]}, {"absent": {"images": 1}}, {"surface": ["images"]}, {"timeout": "1"},
    ]  # fmt: skip
    assert [one for one in wrong if check.is_valid(one)] == []
    for one in wrong:
        text = "".join(
            f"{key} = {json.dumps(value) if key != 'absent' else '{images = 1}'}\n" for key, value in one.items()
        )
        refused(write(text))


def test_every_option_is_in_the_schema_with_its_help() -> None:
    described = schema()["properties"]
    assert set(OPTIONS) == set(described) - {"name"}
    assert [name for name, option in OPTIONS.items() if described[name]["description"] != option.full_help] == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_files_of_vendors_are_target_files(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # They name a key's variable, so their options are only whole where it is set.
    if variable := load(path).values.get("api_key_env"):
        monkeypatch.setenv(variable, "key-of-a-vendor")
    target, run = merged(load(path), {})
    assert target.url is not None
    assert target.url.endswith(("/v1", "/openai"))
    assert target.model or target.url.startswith("http://127.0.0.1")
    planned = plan(target, run)
    assert planned.target == target
    assert {one.name for one in planned.live} == {one.name for one in LIVE}


def test_there_are_target_files_of_vendors() -> None:
    assert len(EXAMPLES) >= 9
