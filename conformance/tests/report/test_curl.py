"""The command that sends a request again."""

from __future__ import annotations

import secrets
import shlex
import subprocess
from dataclasses import replace

from wireproof.model.target import Target
from wireproof.model.transcript import End, Transcript
from wireproof.report.curl import LONGEST, WORD, curl

TARGET = Target(base_url="http://127.0.0.1:1/v1", model="codex", api_key="se'cret")
BODY = b'{"messages": [{"role": "user", "content": "it\'s $HOME\\n\\u00e9"}]}'
SENT = Transcript(
    method="POST",
    url="http://127.0.0.1:1/v1/chat/completions",
    request_headers=(
        ("Host", "127.0.0.1:1"),
        ("content-type", "application/json"),
        ("accept", "*/*"),
        ("accept-encoding", "identity"),
        ("authorization", "Bearer se'cret"),
        ("content-length", str(len(BODY))),
    ),
    request_body=BODY,
    status=200,
    headers=(),
    pieces=(),
    end=End.COMPLETE,
    seconds=0.1,
)


def test_a_shell_reads_the_request_out_of_the_command() -> None:
    command = curl(SENT, TARGET, key="MY_KEY")
    assert shlex.split(command.replace('"$MY_KEY"', shlex.quote("se'cret"))) == [
        "curl", "-sN", SENT.url, "-H", "content-type: application/json", "-H", "authorization: Bearer se'cret",
        "--data-raw", BODY.decode(),
    ]  # fmt: skip


def test_the_key_is_a_variable() -> None:
    assert "se'cret" not in curl(SENT, TARGET)
    assert """'authorization: Bearer '"$API_KEY" """ in curl(SENT, TARGET)


def test_what_else_each_request_carries_is_masked() -> None:
    own = replace(TARGET, headers=(("X-Team", "s3cr3t"),), query=(("v", "s3cr3t/v"),))
    sent = replace(SENT, url=SENT.url + "?v=s3cr3t%2Fv", request_headers=(("x-team", "s3cr3t"), ("x-b", "1")))
    command = curl(sent, own)
    assert "s3cr3t" not in command
    assert "-H 'x-team: ***' -H 'x-b: 1'" in command
    assert "completions?v=***'" in command


def test_a_key_in_the_url_is_a_variable_too() -> None:
    key = replace(TARGET, api_key="k3y")
    sent = replace(SENT, url=SENT.url + "?key=k3y")
    assert curl(sent, key).startswith("""curl -sN 'http://127.0.0.1:1/v1/chat/completions?key='"$API_KEY" """)


def test_a_request_without_a_body_names_its_method() -> None:
    plain = replace(
        SENT, method="GET", url="http://127.0.0.1:1/v1/models?a=b&c=d", request_headers=(), request_body=b""
    )
    assert curl(plain, TARGET) == "curl -sN -X GET 'http://127.0.0.1:1/v1/models?a=b&c=d'"


def test_an_accept_encoding_that_asks_for_something_stays() -> None:
    asks = replace(SENT, request_headers=(("accept-encoding", "gzip"),))
    assert "accept-encoding: gzip" in curl(asks, TARGET)


def test_a_body_that_no_line_can_show_goes_through_a_pipe() -> None:
    for body in (b"x" * (LONGEST + 1), b"\xff\xfe", b"two\nlines", b"a bell\x07"):
        command = curl(replace(SENT, request_body=body), TARGET)
        assert command.startswith("echo H4sI"), body
        assert command.isprintable(), body
        assert command.endswith("--data-binary @-"), body


def test_a_body_that_no_command_can_hold_is_named() -> None:
    odd = replace(SENT, request_body=secrets.token_bytes(WORD))
    assert curl(odd, TARGET).endswith(f"--data-binary @BODY # {WORD} bytes, too many for a command")


def test_the_key_is_in_the_variable_that_the_person_named() -> None:
    assert '"$THEIRS"' in curl(SENT, replace(TARGET, key_variable="THEIRS"))
    assert '"$MINE"' in curl(SENT, replace(TARGET, key_variable="THEIRS"), key="MINE")


def test_a_real_shell_hands_curl_the_same_words() -> None:
    # A function in curl's place, since not every machine has it: it prints its words.
    script = f"""curl() {{ printf '%s\\0' "$@"; }}; {curl(SENT, TARGET, key="MY_KEY")}"""
    done = subprocess.run(["/bin/sh", "-c", script], env={"MY_KEY": "se'cret"}, stdout=subprocess.PIPE, check=True)
    words = done.stdout.decode().split("\0")
    assert words[words.index("--data-raw") + 1] == BODY.decode()
    assert "authorization: Bearer se'cret" in words
