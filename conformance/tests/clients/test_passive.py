"""What a journal shows of the client that asked: in a file, on the page, and in a test."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from click.testing import CliRunner

from wireproof.cli.root import root
from wireproof.cli.serve import _journal
from wireproof.clients.passive import JournalFileError, as_json, findings, run_of_lines
from wireproof_endpoint import serving
from wireproof_endpoint.in_process import transport
from wireproof_endpoint.settings import EndpointSettings
from wireproof_scripts.library import LIBRARY

if TYPE_CHECKING:
    from pathlib import Path

    from wireproof_endpoint.fixture import EndpointFixture

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "look", "parameters": {"type": "object", "properties": {}}},
}
USER = {"role": "user", "content": "Call look."}


def ask(http: httpx.Client, *messages: dict[str, Any], **body: Any) -> dict[str, Any]:
    sent = {"model": "m", "messages": list(messages), "tools": [TOOL], **body}
    message: dict[str, Any] = http.post("/chat/completions", json=sent).json()["choices"][0]["message"]
    return message


def wrongly(http: httpx.Client) -> None:
    """A client that sends the arguments of a call back as others."""
    message = ask(http, USER)
    call = message["tool_calls"][0]
    changed = {**call, "function": {**call["function"], "arguments": '{"other": 1}'}}
    said = {"role": "assistant", "content": None, "tool_calls": [changed]}
    ask(http, USER, said, {"role": "tool", "tool_call_id": call["id"], "content": "found"})


def test_a_fixture_says_what_a_client_did_wrong(wireproof_endpoint: EndpointFixture) -> None:
    with httpx.Client(base_url="http://any.invalid/v1", transport=wireproof_endpoint.transport) as http:
        http.headers["authorization"] = f"Bearer {wireproof_endpoint.key}"
        message = ask(http, USER)
        assert wireproof_endpoint.findings == []
        ask(http, USER, message, {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "found"})
        assert wireproof_endpoint.findings == []
        wrongly(http)
    found = {one.requirement: one for one in wireproof_endpoint.findings}
    assert "client.call-replayed" in found
    one = found["client.call-replayed"]
    assert one.request == len(wireproof_endpoint.requests)
    assert "other" in one.place
    assert str(one).startswith("client.call-replayed (MUST): request 4: the arguments of")


def test_a_run_that_begins_again_after_a_while_repeats_nothing() -> None:
    played = transport()
    with httpx.Client(base_url="http://any.invalid/v1", transport=played) as http:
        for _ in range(2):
            ask(http, {"role": "user", "content": "Hello"})
    assert [one.requirement for one in findings(played.requests)] == ["client.no-storm"]
    played.requests[1].began += 60.0
    assert findings(played.requests) == []


def test_the_journal_of_an_endpoint_is_judged_on_its_page_and_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    journal = _journal(100, file)
    endpoint = serving.endpoint_of(EndpointSettings(), lambda: LIBRARY, journal)
    with serving.running(endpoint) as url, httpx.Client(base_url=url) as http:
        wrongly(http)
        page = f"{url.removesuffix('/v1')}/_wireproof"
        shown = http.get(f"{page}/findings").json()["findings"]
        assert 'id="findings-title"' in http.get(f"{page}/").text
    assert [one["requirement"] for one in shown] == ["client.call-replayed"]
    assert shown[0]["request"] == 2
    result = CliRunner().invoke(root, ["client", "--journal", str(file), "--output", str(tmp_path / "out")])
    assert result.exit_code == 1
    assert "FAIL client.call-replayed  MUST" in result.output
    assert f"again: wireproof client --journal {file} --only client-journal" not in result.output
    again = CliRunner().invoke(root, ["judge", str(tmp_path / "out")])
    assert again.exit_code == 1


def test_a_right_client_has_a_journal_without_findings(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    endpoint = serving.endpoint_of(EndpointSettings(), lambda: LIBRARY, _journal(100, file))
    with serving.running(endpoint) as url, httpx.Client(base_url=url) as http:
        # Line ends of Unicode, which stand in a line of the file as they are.
        hello = {"role": "user", "content": "Hello\u2028\x85there"}
        text = ask(http, hello, stream=False)
        ask(http, hello, text, {"role": "user", "content": "More"})
        assert as_json(tuple(endpoint.journal.entries)) == []
    result = CliRunner().invoke(root, ["client", "--journal", str(file)])
    assert result.exit_code == 0, result.output


WHEN = "2026-11-22T12:00:00Z"


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        "{}",
        json.dumps({"when": "yesterday"}),
        json.dumps({"when": WHEN, "seconds": "long"}),
        json.dumps({"when": WHEN, "seconds": 10**400}),
        json.dumps({"when": WHEN, "sent": [{"at": ["soon"], "text": ""}]}),
        "[1]",
    ],
)
def test_a_file_that_is_no_journal_is_refused_in_a_line(line: str, tmp_path: Path) -> None:
    with pytest.raises(JournalFileError, match=r"here, line 2: this is no line of a journal"):
        run_of_lines(f"\n{line}", "here")
    file = tmp_path / "file"
    file.write_text(line, encoding="utf-8")
    result = CliRunner().invoke(root, ["client", "--journal", str(file)])
    assert result.exit_code == 2
    assert result.output.count("\n") == 1


def test_a_command_and_a_journal_are_too_much_and_neither_too_little(tmp_path: Path) -> None:
    for words in ([], ["--journal", str(tmp_path / "x"), "--", "true"]):
        result = CliRunner().invoke(root, ["client", *words])
        assert result.exit_code == 2
        assert "give the command of a client, or --journal FILE" in result.output
