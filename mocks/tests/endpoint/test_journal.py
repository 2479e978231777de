"""The journal: what is noted of a request, how it is shown, and to whom."""

from __future__ import annotations

import errno
import json
import os
import socket
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest

from wireproof_endpoint.in_process import transport
from wireproof_endpoint.journal.entry import AnswerEnding, Bounds, JournalEntry
from wireproof_endpoint.journal.lines import LineFile
from wireproof_endpoint.journal.pages import is_local
from wireproof_endpoint.journal.ring import Journal
from wireproof_endpoint.journal.shown import brief, whole
from wireproof_endpoint.journal.why import Considered
from wireproof_surfaces.http.request_head import RequestHead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from mocks.tests.endpoint.conftest import Serve

KEY = "sk-0123456789abcdef"
SCRIPTS = """
- {name: weather, when: weather, parts: [[{say: Sunny.}]]}
- {name: sun, when: weath, parts: [[{say: Sun.}]]}
- {name: waits, when: waits, parts: [[{say: One}, {pause: 60}, {say: Two}]]}
"""


def begun(journal: Journal, **more: Any) -> JournalEntry:
    given: dict[str, Any] = {"method": "POST", "path": "/v1/x", "query": "", "headers": {}, "now": 10.0, "when": 0.5}
    return journal.begin(**given | more)


# What is kept


@pytest.mark.parametrize(
    "frame", ['{"choices": [1]}', '{"choices": 1}', '{"item": 1, "type": "response.output_item.done"}']
)
def test_calls_are_found_beside_frames_of_any_json(frame: str) -> None:
    call = {"call": {"id": "c", "name": "f", "arguments": {"a": "one\u2028line"}}}
    played = transport({"name": "odd", "when": "go", "parts": [[{"frame": frame}, call]]})
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "go"}]}
    with httpx.Client(transport=played) as client:
        client.post("http://endpoint/v1/chat/completions", json=body)
    assert played.requests.call("f").arguments == {"a": "one\u2028line"}


def test_older_entries_are_forgotten_and_numbers_go_on() -> None:
    journal = Journal(2)
    entries = [begun(journal) for _ in range(5)]
    assert [entry.number for entry in journal.entries] == [4, 5]
    assert journal.find(4) is entries[3]
    assert journal.find(1) is None


def test_what_is_nested_beyond_reading_is_no_json() -> None:
    entry = begun(Journal(1))
    entry.take(b"[" * 100_000)
    entry.bounds = Bounds(sent=200_000)
    entry.open(500)
    entry.send(11.0, b"[" * 100_000)
    assert (entry.body, entry.error) == (None, None)
    assert brief(entry)["error"] is None


def test_nothing_is_noted_without_a_journal() -> None:
    journal = Journal(0)
    entry = begun(journal)
    entry.take(b"body")
    entry.choose("one", 0, tuple)
    entry.open(200)
    entry.send(11.0, b"piece")
    journal.end(entry, 12.0, AnswerEnding.COMPLETED)
    assert (entry.received, entry.script, entry.status, entry.pieces, entry.ended) == (b"", None, None, [], None)
    assert list(journal.entries) == []


def test_of_a_large_request_and_answer_the_beginning_is_kept_and_all_is_counted() -> None:
    entry = begun(Journal(1, Bounds(body=4, sent=6, pieces=3)))
    entry.take(b"123456")
    for piece in (b"abcd", b"efgh", b"ijkl", b"mnop", b""):
        entry.send(11.0, piece)
    assert (entry.received, entry.received_size) == (b"1234", 6)
    assert entry.sent == b"abcdef"
    assert [piece.size for piece in entry.pieces] == [4, 4, 4]
    assert entry.sent_size == 16
    assert (whole(entry)["body_cut"], whole(entry)["sent_cut"]) == (True, True)


def test_what_ends_first_counts_and_a_refusal_is_one() -> None:
    ended: list[JournalEntry] = []
    journal = Journal(2, ended=ended.append)
    gone, refused = begun(journal), begun(journal)
    journal.end(gone, 12.0, AnswerEnding.GONE)
    journal.end(gone, 13.0, AnswerEnding.COMPLETED)
    refused.open(404)
    journal.end(refused, 12.5, AnswerEnding.COMPLETED)
    assert (gone.ended, gone.seconds, refused.ended) == (AnswerEnding.GONE, 2.0, AnswerEnding.REFUSED)
    assert ended == [gone, refused]


def test_why_is_asked_when_somebody_looks_but_for_a_large_request() -> None:
    asked: list[str] = []

    def why(name: str) -> Callable[[], tuple[Considered, ...]]:
        def say() -> tuple[Considered, ...]:
            asked.append(name)
            return (Considered(script=name, answers=True, why="it does"),)

        return say

    journal = Journal(2)
    small, large = begun(journal), begun(journal)
    small.take(bytes(16_384))
    small.choose("small", 0, why("small"))
    assert asked == []
    large.take(bytes(16_385))
    large.choose("large", 0, why("large"))
    assert asked == ["large"]
    assert [whole(entry)["considered"][0]["script"] for entry in (small, large, large)] == ["small", "large", "large"]
    assert asked == ["large", "small"]


# How it is shown


def test_keys_are_nowhere_in_what_is_shown() -> None:
    headers = {"authorization": f"Bearer {KEY}", "x-api-key": "short", "x-other": f"also {KEY}", "cookie": "a=b"}
    entry = begun(Journal(1), headers=headers, query=f"api_key={KEY}&limit=2")
    entry.take(json.dumps({"metadata": {"key": KEY}, "text": "short"}).encode())
    entry.open(401)
    entry.send(11.0, json.dumps({"error": {"message": f"{KEY} is wrong", "code": 3}}).encode())
    shown = whole(entry)
    assert KEY not in json.dumps(shown)
    assert KEY not in repr(entry)
    assert shown["headers"] == {"authorization": "***", "x-api-key": "***", "x-other": "also ***", "cookie": "***"}
    assert shown["query"] == "api_key=***&limit=2"
    assert shown["body"] == {"metadata": {"key": "***"}, "text": "short"}
    assert shown["error"] == {"message": "*** is wrong", "type": None, "param": None, "code": 3}


def test_pieces_are_shown_as_frames_with_their_times() -> None:
    entry = begun(Journal(1))
    entry.send(10.25, b"data: 1\n\ndata: 2\n\n")
    entry.send(11.5, b"data: bro")
    assert whole(entry)["sent"] == [
        {"at": 0.25, "text": "data: 1"},
        {"at": 0.25, "text": "data: 2"},
        {"at": 1.5, "text": "data: bro"},
    ]
    assert (whole(entry)["ended"], brief(entry)["when"]) == (None, "1970-01-01T00:00:00.500Z")


@pytest.mark.parametrize(("body", "shown"), [(b"", None), (b"{", "{"), (b"\xff", "\ufffd"), (b"[" * 9999, "[" * 9999)])
def test_a_body_that_is_no_json_is_shown_as_text(body: bytes, shown: str | None) -> None:
    entry = begun(Journal(1))
    entry.take(body)
    assert whole(entry)["body"] == shown


# In a file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def ended(number: int) -> JournalEntry:
    entry = JournalEntry(number=number)
    entry.end(1.0, AnswerEnding.COMPLETED)
    return entry


def numbers(file: Path) -> list[int]:
    assert file.read_bytes().endswith(b"\n")
    return [json.loads(line)["number"] for line in file.read_text().splitlines()]


def test_a_file_gets_a_line_for_each_request_and_goes_on_where_another_ended(file: Path) -> None:
    for number in (1, 2):
        lines = LineFile(file)
        lines(ended(number))
        lines.close()
    assert numbers(file) == [1, 2]
    assert file.stat().st_mode & 0o077 == 0, "others may read what was asked"


def test_a_line_that_another_program_tore_does_not_tear_ours(file: Path) -> None:
    file.write_bytes(b'{"number": 7}\n{"num')
    LineFile(file)(ended(8))
    *_, torn, ours = file.read_bytes().splitlines()
    assert (torn, json.loads(ours)["number"]) == (b'{"num', 8)


def test_what_a_full_disk_takes_of_a_line_is_taken_back(
    file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lines, write = LineFile(file), os.write
    lines(ended(1))
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda to, data: write(to, data[:10]))
        lines(ended(2))
        lines(ended(3))
        patch.setattr(os, "write", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
        lines(ended(4))
    lines(ended(5))
    assert numbers(file) == [1, 5]
    assert caplog.text.count("cannot be written") == 1


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="is no regular file"):
        LineFile(tmp_path / "pipe")


# Served


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with httpx.Client(trust_env=False, timeout=20) as found:
        yield found


def ask(client: httpx.Client, url: str, text: str, **more: Any) -> httpx.Response:
    body = {"model": "m", "messages": [{"role": "user", "content": text}], **more}
    return client.post(f"{url}/chat/completions", json=body, headers={"Authorization": f"Bearer {KEY}"})


def journal_of(client: httpx.Client, url: str, query: str = "") -> Any:
    return client.get(f"{url.removesuffix('/v1')}/_wireproof/requests{query}").json()["requests"]


def test_requests_are_shown_with_their_scripts_and_what_was_sent(served: Serve, client: httpx.Client) -> None:
    url = served(SCRIPTS)
    ask(client, url, "The weather?")
    ask(client, url, "weather, streamed", stream=True)
    ask(client, url, "Hello.")
    first, second, third = journal_of(client, url)
    assert (first["script"], first["part"], first["status"], first["ended"]) == ("weather", 0, 200, "completed")
    assert first["body"]["messages"] == [{"role": "user", "content": "The weather?"}]
    assert first["headers"]["authorization"] == "***"
    assert [(one["script"], one["answers"]) for one in first["considered"]] == [
        ("weather", True), ("sun", False), ("waits", False),
    ]  # fmt: skip
    assert [one["why"] for one in first["considered"][:3]] == [
        "the last message of the user contains 'weather'",
        "it matches, too: weather comes before it, or a marker names that",
        "the last message of the user, 'The weather?', does not contain 'waits'",
    ]
    assert second["sent"][-1]["text"] == "data: [DONE]"
    assert third["script"] == "default"
    assert third["considered"][-1] == {
        "script": "default", "answers": True, "why": "no script matches, so the default answers",
    }  # fmt: skip


def test_what_is_refused_is_shown_with_the_reason(served: Serve, client: httpx.Client) -> None:
    url = served(SCRIPTS, api_key=KEY, max_body=100)
    client.get(f"{url}/models", headers={"Authorization": "Bearer wrong-wrong-wrong"})
    client.get(f"{url}/nothing")
    ask(client, url, "x" * 200)
    ask(client, url, "hi", n=0)
    ask(client, url, "[[wireproof:wether#1]]")
    entries = journal_of(client, url)
    assert [(one["status"], one["ended"]) for one in entries] == [
        (status, "refused") for status in (401, 404, 413, 400, 400)
    ]
    assert [one["error"]["code"] for one in entries[:3]] == ["invalid_api_key", "unknown_url", "request_too_large"]
    assert entries[3]["error"]["param"] == "n"
    assert "wrong-wrong" not in json.dumps(entries)
    assert "did you mean weather?" in entries[4]["considered"][-1]["why"]


def test_a_stream_is_shown_while_it_runs_and_its_client_when_it_leaves(served: Serve, client: httpx.Client) -> None:
    url = served(SCRIPTS)
    parts = urlsplit(url)
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "waits"}]}).encode()
    head = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as connection:
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        running = until(lambda: journal_of(client, url), lambda found: found and "One" in json.dumps(found[0]["sent"]))
        assert (running[0]["ended"], running[0]["seconds"], running[0]["status"]) == (None, None, 200)
    [gone] = until(lambda: journal_of(client, url), lambda found: found[0]["ended"])
    assert gone["ended"] == "client gone"


def until(look: Callable[[], Any], good: Callable[[Any], object]) -> Any:
    began = time.monotonic()
    while not good(found := look()):
        assert time.monotonic() - began < 20, found
    return found


def test_the_list_is_asked_for_as_lines_in_brief_and_from_a_number_on(served: Serve, client: httpx.Client) -> None:
    url = served(journal=2)
    for text in ("One.", "Two.", "Three."):
        ask(client, url, text)
    pages = f"{url.removesuffix('/v1')}/_wireproof/requests"
    lines = client.get(pages, params={"format": "jsonl"}).text
    assert [json.loads(line)["number"] for line in lines.splitlines()] == [2, 3]
    assert lines.endswith("\n")
    [last] = journal_of(client, url, "?brief&after=2")
    assert (last["number"], "body" in last) == (3, False)
    assert client.get(f"{pages}/3").json()["body"]["messages"][0]["content"] == "Three."
    answer = client.get(pages, params={"brief": ""}).json()
    assert (answer["first"], answer["last"]) == (2, 3)


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("", "GET", 308), ("/", "GET", 200), ("/", "HEAD", 200), ("/", "POST", 405), ("/requests/9", "GET", 404),
        ("/requests/x", "GET", 404), ("/nothing", "GET", 404), ("/requests?after=x", "GET", 400),
        pytest.param(f"/requests?after={'9' * 5000}", "GET", 400, id="after-many-digits"),
        pytest.param(f"/requests/{'9' * 5000}", "GET", 404, id="many-digits"),
        ("/requests?format=xml", "GET", 400), ("/requests", "OPTIONS", 405),
    ],
)  # fmt: skip
def test_each_page_has_its_status_and_lets_no_other_origin_read(
    served: Serve, client: httpx.Client, path: str, method: str, status: int
) -> None:
    answer = client.request(method, f"{served().removesuffix('/v1')}/_wireproof{path}")
    assert answer.status_code == status
    assert "access-control-allow-origin" not in answer.headers
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert bool(answer.content) == (method != "HEAD" and status != 308)


HERE = "127.0.0.1"
HOST = (b"host", b"localhost:8787")


@pytest.mark.parametrize(
    ("peer", "fields", "local"),
    [
        (HERE, [HOST], True),
        (HERE, [(b"host", b"127.0.0.1:8787"), (b"origin", b"http://127.0.0.1:8787")], True),
        ("::1", [(b"host", b"[::1]:8787")], True),
        ("192.168.0.7", [HOST], False),
        ("", [HOST], False),
        (HERE, [], False),
        (HERE, [(b"host", b"rebound.example:8787")], False),
        (HERE, [(b"host", b"[::1:8787")], False),
        (HERE, [(b"host", b"localhost"), (b"host", b"localhost")], False),
        (HERE, [(b"host", b"localhost"), (b"origin", b"https://page.example")], False),
        (HERE, [(b"host", b"localhost"), (b"origin", b"null")], False),
        (HERE, [(b"host", b"localhost"), (b"x-forwarded-for", b"192.168.0.7")], False),
    ],
)
def test_only_programs_on_this_machine_are_let_in(peer: str, fields: list[tuple[bytes, bytes]], *, local: bool) -> None:
    assert is_local(RequestHead(fields=fields), peer) is local


def test_a_page_that_lets_its_name_point_here_gets_nothing(served: Serve, client: httpx.Client) -> None:
    url = served(SCRIPTS)
    ask(client, url, "The weather?")
    answer = client.get(
        f"{url.removesuffix('/v1')}/_wireproof/requests", headers={"Host": f"page.example:{urlsplit(url).port}"}
    )
    assert answer.status_code == 404
    assert "weather" not in answer.text


@pytest.mark.parametrize("step", ["disconnect", "garbage"])
def test_an_answer_that_the_script_cuts_is_shown_so(served: Serve, client: httpx.Client, step: str) -> None:
    url = served(f"- {{name: cut, when: cut, parts: [[{{say: One}}, {{{step}: {{}}}}]]}}")
    with pytest.raises(httpx.TransportError):
        ask(client, url, "cut", stream=True)
    [entry] = journal_of(client, url)
    assert (entry["status"], entry["ended"]) == (200, "cut by the script")
    assert "One" in json.dumps(entry["sent"])


def test_the_same_without_a_socket() -> None:
    played = transport({"name": "cut", "when": "cut", "parts": [[{"say": "One"}, {"disconnect": {}}]]})
    with httpx.Client(transport=played) as client, pytest.raises(httpx.TransportError):
        ask(client, "http://x/v1", "cut", stream=True)
    assert played.requests.one(script="cut", status=200).ended == AnswerEnding.CUT
