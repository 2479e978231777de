from __future__ import annotations

import pytest

from wireproof_mocks.miniatures import FAULTS, TOPICS
from wireproof_mocks.miniatures.fault import (
    FUNCTION_CALL,
    MESSAGES,
    OBSIDIAN_XML,
    OPENAI_JSON,
    RESPONSES,
    Fault,
    FaultHead,
    SentRequest,
)


@pytest.mark.parametrize(("status", "code"), [("200 OK", 200), ("404 NOT FOUND", 404), ("599", 599)])
def test_a_status_line_has_a_number(status: str, code: int) -> None:
    assert FaultHead(status=status, headers=[]).code == code


def test_names_are_unique() -> None:
    assert len(FAULTS) == sum(map(len, TOPICS))


def asked(body: bytes, **headers: str) -> SentRequest:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return SentRequest(method="POST", path="/v1/chat/completions", body=body, key="", headers=sent)


@pytest.mark.parametrize(
    ("body", "script"),
    [
        (b"{}", ""),
        (b"[[wireproof:text/hello#n]]", "text/hello"),
        (b"[[wireproof:a/b#1]] and [[wireproof:c/d-2#2]]", "c/d-2"),
    ],
)
def test_the_last_marker_names_the_script(body: bytes, script: str) -> None:
    assert asked(body).script == script


def test_the_dialect_is_what_the_request_asks_for() -> None:
    assert asked(b"{}").dialect == OBSIDIAN_XML
    assert asked(b"{}", x_proxy_output_mode=OPENAI_JSON).dialect == OPENAI_JSON
    assert asked(b'{"functions": []}', x_proxy_output_mode=OPENAI_JSON).dialect == FUNCTION_CALL
    assert asked(b'{"functions": [], "tools": []}', x_proxy_output_mode=OPENAI_JSON).dialect == OPENAI_JSON


def test_a_fault_touches_what_it_is_about() -> None:
    fault = Fault(name="a-b", breaks="x", dialects=(OBSIDIAN_XML,), scripts=("text/hello",))
    assert fault.touches(asked(b"[[wireproof:text/hello#n]]"))
    assert not fault.touches(asked(b"[[wireproof:text/empty#n]]"))
    assert not fault.touches(asked(b"[[wireproof:text/hello#n]]", x_proxy_output_mode=OPENAI_JSON))
    assert Fault(name="a-b", breaks="x").touches(asked(b""))


def test_a_fault_without_dialects_is_one_of_chat() -> None:
    response = SentRequest(method="POST", path="/v1/responses", body=b"{}", key="")
    assert response.dialect == RESPONSES
    assert not Fault(name="a-b", breaks="x").touches(response)
    message = SentRequest(method="POST", path="/v1/messages/count_tokens", body=b"{}", key="")
    assert message.dialect == MESSAGES
    assert not Fault(name="a-b", breaks="x").touches(message)
    assert Fault(name="a-b", breaks="x").touches(asked(b"", x_proxy_output_mode="yaml"))
    assert Fault(name="a-b", breaks="x", dialects=(RESPONSES,)).touches(response)
    assert not Fault(name="a-b", breaks="x", dialects=(RESPONSES,)).touches(asked(b""))


def test_each_fault_does_exactly_one_kind_of_thing() -> None:
    together = {
        "whole-failure-as-answer": {"whole", "head"},
        "length-copied-beside-chunks": {"frames", "head"},
        "error-as-stream": {"head", "salvage"},
        "early-failure-as-stream": {"head", "salvage"},
        "early-failure-as-message-stream": {"head", "salvage"},
        "refusals-as-streams": {"head", "salvage"},
        "tokens-not-counted": {"head", "whole"},
    }
    kinds = ("frames", "whole", "request", "head", "environ", "salvage", "instead", "ignores_disconnect", "body_open")
    for name, fault in FAULTS.items():
        done = {kind for kind in kinds if getattr(fault, kind)}
        assert done == together.get(name, done)
        assert len(done) == 1 or done == {"frames", "whole"} or name in together
