from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from click.testing import CliRunner

from wireproof.cli.root import root
from wireproof.targets.launch import executable

if TYPE_CHECKING:
    from conformance.tests.conftest import Served, Serving, TinyServer, Until

pytestmark = pytest.mark.sampled(14)

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
SCRIPTS = """
scripts:
  - name: weather
    when: weather
    parts:
      - - call: {id: call_1, name: get_weather, arguments: {city: Zürich}}
      - - say: [It is, " sunny."]
  - name: my/own
    parts: [[{say: [Mine.]}]]
"""


HOLDER = Path("/proc/self/comm").read_text(encoding="utf-8").strip()
"""What this process is called."""


def post(served: Served, messages: Any, **body: Any) -> httpx.Response:
    """A whole answer; `messages` may be the user's text."""
    said = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    with httpx.Client(trust_env=False, timeout=20) as client:
        return client.post(
            f"{served.base_url}/chat/completions",
            headers={"authorization": f"Bearer {served.key}"},
            json={"model": served.model, "messages": said, **body},
        )


def ask(served: Served, messages: Any, **body: Any) -> Any:
    """A whole answer's first choice; `messages` may be the user's text."""
    answer = post(served, messages, **body)
    assert answer.status_code == 200, answer.text
    return answer.json()["choices"][0]


def children_of(pid: int) -> list[int]:
    """All processes below one, at any depth."""
    below: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(") ")[2].split()[1])
            below.setdefault(parent, []).append(int(folder.name))
    found = below.get(pid, [])
    return found + [grandchild for child in found for grandchild in children_of(child)]


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def test_it_says_where_it_is_and_how_to_try_it(served: Served) -> None:
    assert served.base_url.startswith("http://127.0.0.1:")
    assert (served.key, served.model) == ("wireproof", "codex")
    assert served.note.startswith("Answers: an echo; a call of a declared tool when your text asks for it.")
    assert served.curl.startswith(f"curl -N {served.base_url}/chat/completions -H 'Authorization: Bearer wireproof' ")


def test_the_curl_line_works_as_it_is_printed(served: Served) -> None:
    shell = subprocess.run(["/bin/sh", "-c", served.curl], capture_output=True, text=True, timeout=20, check=False)
    if shell.returncode == 127:
        pytest.skip("curl is not installed")
    assert shell.returncode == 0, shell.stderr
    frames = [line.removeprefix("data: ") for line in shell.stdout.splitlines() if line.startswith("data: ")]
    assert frames.pop() == "[DONE]"
    assert "".join(json.loads(f)["choices"][0]["delta"].get("content") or "" for f in frames) == "You said: Hello!"


def status(served: Served, key: str, model: str) -> int:
    body = {"model": model, "messages": [{"role": "user", "content": "Hi."}]}
    with httpx.Client(trust_env=False, timeout=20) as client:
        url, headers = f"{served.base_url}/chat/completions", {"authorization": f"Bearer {key}"} if key else {}
        return client.post(url, headers=headers, json=body).status_code


def test_any_key_and_any_model_are_served_unless_it_names_them(served: Served, serving: Serving) -> None:
    assert "any key and any model" in served.introduction
    assert [status(served, key, model) for key, model in (("x", "gpt-5"), ("", "any/other"))] == [200, 200]
    with serving("--api-key", "k", "--model", "mine", "--model", "yours") as one:
        assert (one.key, one.model) == ("k", "mine")
        assert "any key" not in one.introduction
        assert "any model" not in one.introduction
        asked = [("k", "mine"), ("k", "yours"), ("k", "codex"), ("x", "mine"), ("", "mine")]
        assert [status(one, key, model) for key, model in asked] == [200, 200, 404, 401, 401]


def test_the_curl_line_works_with_any_key(serving: Serving) -> None:
    with serving("--api-key", 'it\'s a "key" $HOME') as served:
        assert ask(served, "Hi.")["message"]["content"] == "You said: Hi."
        command = f"{served.curl} -s -o /dev/null -w '%{{http_code}}'"
        shell = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=20, check=False)
        if shell.returncode == 127:
            pytest.skip("curl is not installed")
        assert shell.stdout == "200"


def test_a_key_out_of_a_variable_is_asked_for_and_not_shown(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIREPROOF_TEST_KEY", "a secret")
    with serving("--api-key-env", "WIREPROOF_TEST_KEY") as served:
        assert served.key == "$WIREPROOF_TEST_KEY"
        assert "a secret" not in served.introduction
        assert '-H "Authorization: Bearer $WIREPROOF_TEST_KEY"' in served.curl
        assert [status(served, key, "codex") for key in ("a secret", "x", "")] == [200, 401, 401]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--api-key-env", "WIREPROOF_NO_SUCH"), "the environment variable WIREPROOF_NO_SUCH, which should hold the"),
        (("--api-key", ""), "wireproof: the key is empty"),
        (("--model", "a", "--model", " "), "wireproof: the name of a model is empty"),
        (("--api-key", "k\u00e9y"), "wireproof: a key is of visible ASCII characters, with single spaces between"),
        (("--api-key-env", "HOME", "--api-key", "k"), "leave one of them out"),
    ],
)
def test_what_no_client_can_send_and_a_key_that_is_named_twice_is_an_error(words: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(root, ["serve", "--port", "0", *words])
    assert result.exit_code == 2
    assert said in result.output


def test_without_a_marker_it_echoes(served: Served) -> None:
    choice = ask(served, "How do you do?")
    assert (choice["message"]["content"], choice["finish_reason"]) == ("You said: How do you do?", "stop")


def test_a_tool_is_called_when_the_text_asks_for_it_and_its_result_is_reported(served: Served) -> None:
    question = {"role": "user", "content": "Please use get_weather."}
    choice = ask(served, [question], tools=[WEATHER])
    assert choice["finish_reason"] == "tool_calls"
    [call] = choice["message"]["tool_calls"]
    assert call["function"]["name"] == "get_weather"
    assert isinstance(json.loads(call["function"]["arguments"])["city"], str)
    result = {"role": "tool", "tool_call_id": call["id"], "content": "Sunny, 24 degrees."}
    choice = ask(served, [question, choice["message"], result], tools=[WEATHER])
    assert (choice["message"]["content"], choice["finish_reason"]) == ("The tool said: Sunny, 24 degrees.", "stop")


def test_threads_and_beginnings_of_answers_are_taken_unless_it_is_told_to_refuse_them(
    served: Served, serving: Serving
) -> None:
    user, begun = {"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Good"}
    asked: list[Any] = [{"messages": [user], "thread": {"type": "create"}}, {"messages": [user, begun]}]

    def answers(at: Any) -> list[str]:
        head = {"x-api-key": at.key, "anthropic-version": "2023-06-01"}
        bodies = [{"model": at.model, "max_tokens": 64, **one} for one in asked]
        with httpx.Client(trust_env=False, timeout=20, headers=head) as client:
            came = [client.post(f"{at.base_url}/messages", json=body).json() for body in bodies]
        return [one.get("error", one).get("message", one["type"]) for one in came]

    assert answers(served) == ["message", "message"]
    with serving("--no-threads", "--no-prefill") as refusing:
        threads, prefill = answers(refusing)
    assert "thread" in threads
    assert "prefill" in prefill


def test_scripts_of_the_library_can_be_asked_for(served: Served) -> None:
    assert ask(served, "[[wireproof:text/hello#1]] Hi.")["message"]["content"] == "Hello, world!"


def test_scripts_of_a_file_are_chosen_by_a_word_and_by_a_marker(serving: Serving, tmp_path: Path) -> None:
    file = tmp_path / "scripts.yaml"
    file.write_text(SCRIPTS, encoding="utf-8")
    with serving("--scripts", str(file)) as served:
        question = {"role": "user", "content": "What is the WEATHER like?"}
        choice = ask(served, [question], tools=[WEATHER])
        [call] = choice["message"]["tool_calls"]
        assert json.loads(call["function"]["arguments"]) == {"city": "Zürich"}
        result = {"role": "tool", "tool_call_id": call["id"], "content": "24"}
        assert ask(served, [question, choice["message"], result], tools=[WEATHER])["message"]["content"] == (
            "It is sunny."
        )
        assert ask(served, "[[wireproof:my/own#1]] Hi.")["message"]["content"] == "Mine."
        assert ask(served, "Something else.")["message"]["content"] == "You said: Something else."


def rejected(served: Served, text: str) -> str:
    """The error that every request gets alike: whole and as a stream, on both surfaces, before any output."""
    chat = {"messages": [{"role": "user", "content": text}]}
    bodies: dict[str, dict[str, Any]] = {"chat/completions": chat, "responses": {"input": text}}
    messages = set()
    for path, stream in product(bodies, (False, True)):
        with httpx.Client(trust_env=False, timeout=20) as client:
            answer = client.post(
                f"{served.base_url}/{path}",
                headers={"authorization": f"Bearer {served.key}"},
                json={"model": served.model, "stream": stream, **bodies[path]},
            )
        error = answer.json()["error"]
        assert (answer.status_code, error["type"], error["code"]) == (400, "invalid_request_error", "script_mistake")
        messages.add(error["message"])
    [message] = messages
    return str(message)


def test_a_marker_of_no_script_or_without_a_nonce_is_the_clients_mistake(serving: Serving) -> None:
    with serving() as served:
        assert rejected(served, "[[wireproof:text/helo#1]]") == (
            "The marker asks for the script text/helo, which does not exist; "
            "did you mean text/hello or text/long or text/late?"
        )
        assert rejected(served, "[[wireproof:text/hello]] Hi.") == (
            "The marker [[wireproof:text/hello]] has no nonce; "
            "write [[wireproof:text/hello#1]], with letters and digits of your own after the #."
        )


@pytest.mark.usefixtures("default_signals")
def test_a_file_of_scripts_that_changes_is_read_again_and_reported_when_it_is_broken(
    serving: Serving, tmp_path: Path, until: Until
) -> None:
    file, other = tmp_path / "scripts.yaml", tmp_path / "other"
    file.write_text(SCRIPTS, encoding="utf-8")
    with serving("--scripts", str(file)) as served:
        assert ask(served, "[[wireproof:my/own#1]]")["message"]["content"] == "Mine."
        other.write_text("- name: my/own\n  parts: [[{sey: x}]]")
        other.replace(file)
        # A change is seen within 50 ms of the last look at the files, or later on a busy machine.
        until(lambda: "sey" in post(served, "[[wireproof:my/own#2]]").text)
        assert rejected(served, "[[wireproof:my/own#2]]") == (
            f"{file}: line 2, column 12, [0].parts[0][0] in the script my/own: "
            'there is no step "sey"; did you mean say?'
        )
        file.unlink()
        until(lambda: "cannot be read" in post(served, "Hi.").text)
        assert rejected(served, "Hi.") == f"{file}: cannot be read: No such file or directory"
        file.write_text("- {name: my/own, parts: [[{say: Changed.}]]}")
        until(lambda: post(served, "[[wireproof:my/own#3]]").status_code == 200)
        assert ask(served, "[[wireproof:my/own#3]]")["message"]["content"] == "Changed."
        served.process.send_signal(signal.SIGINT)
        _, error = served.process.communicate(timeout=20)
    assert 'there is no step "sey"; did you mean say?' in error
    assert "cannot be read: No such file or directory" in error


def refused(*arguments: str, status: int = 2) -> str:
    result = CliRunner().invoke(root, ["serve", *arguments])
    assert (result.exit_code, result.stdout) == (status, "")
    assert result.stderr.startswith("wireproof: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "- name: a\n  parts: [[{sey: b}]]",
            "scripts.yaml: line 2, column 12, [0].parts[0][0] in the script a: there is no step",
        ),
        ("scripts: [", "scripts.yaml: line 1"),
        (None, "scripts.yaml: cannot be read: No such file"),
    ],
)
def test_a_broken_file_of_scripts_is_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: str | None, message: str
) -> None:
    file = tmp_path / "scripts.yaml"
    if content is not None:
        file.write_text(content)
    assert message in refused("--scripts", str(file), "--port", "0")
    assert not caplog.records, "it would be told twice"


def test_a_port_that_is_taken_is_one_line(tiny: TinyServer) -> None:
    port = tiny.root.rpartition(":")[2]
    assert refused("--port", port) == (
        f"wireproof: port {port} cannot be used: {HOLDER} (process {os.getpid()}) listens there;"
        " name another with --port\n"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="a program names itself in /proc on Linux alone")
def test_who_has_the_port_may_have_any_name(tiny: TinyServer) -> None:
    name = Path("/proc/self/comm")
    before = name.read_bytes()
    name.write_bytes(b"caf\xe9")
    try:
        said = refused("--port", tiny.root.rpartition(":")[2])
    finally:
        name.write_bytes(before)
    assert rf"caf\xe9 (process {os.getpid()}) listens there" in said


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_it_and_frees_its_port(serving: Serving, number: int) -> None:
    with serving() as served:
        ask(served, "Hi.")
        served.process.send_signal(number)
        _, error = served.process.communicate(timeout=20)
        assert served.process.returncode == 0
        assert error == ""
    port = int(served.base_url.removesuffix("/v1").rpartition(":")[2])
    with socket.create_server(("127.0.0.1", port)):
        pass


@pytest.mark.usefixtures("default_signals")
def test_scripts_that_no_request_chose_are_named_at_the_end(serving: Serving, tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(SCRIPTS, encoding="utf-8")
    (tmp_path / "two.json").write_text('[{"name": "two", "when": "two", "parts": [[{"say": "Two."}]]}]')
    with serving("--scripts", str(tmp_path / "one.yaml"), "--script", str(tmp_path / "two.json")) as served:
        assert ask(served, "two")["message"]["content"] == "Two."
        served.process.send_signal(signal.SIGINT)
        _, error = served.process.communicate(timeout=20)
    assert error == "wireproof: no request chose weather, my/own\n"


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_its_workers_all_serve_and_end_with_it(serving: Serving, until: Until, number: int) -> None:
    with serving("--workers", "3") as served:
        workers = children_of(served.process.pid)
        assert len(workers) == 2
        assert {ask(served, "Hi.")["message"]["content"] for _ in range(8)} == {"You said: Hi."}
        served.process.send_signal(number)
        served.process.wait(timeout=20)
        until(lambda: not any(runs(pid) for pid in workers), "the end of all workers")


def test_the_command_is_installed() -> None:
    assert Path(executable("wireproof")).is_file()
