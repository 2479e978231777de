from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from wireproof_surfaces.errors import FAILURES
from wireproof_surfaces.events import UsageReported
from wireproof_surfaces.surfaces.responses_answer import CODES, ResponseHead, response, response_of, usage_object

HEAD = ResponseHead(token="t" * 48, created=7, model="m", echo={"metadata": {"a": "b"}, "tools": []})


def test_a_response_in_progress_has_neither_output_nor_usage() -> None:
    assert response(HEAD, "in_progress") == {
        "id": "resp_" + "t" * 48,
        "object": "response",
        "created_at": 7,
        "completed_at": None,
        "status": "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "model": "m",
        "output": [],
        "metadata": {"a": "b"},
        "tools": [],
        "usage": None,
    }


@pytest.mark.parametrize(("now", "ended"), [(lambda: 9.7, 9), (lambda: 3.0, 7), (None, 7)])
def test_only_a_completed_response_says_when_it_ended_and_never_before_it_began(now: Any, ended: int) -> None:
    head = replace(HEAD, now=now)
    assert response(head, "completed")["completed_at"] == ended
    assert response(head, "failed")["completed_at"] is None


@pytest.mark.parametrize(("reason", "sent"), [("length", "max_output_tokens"), ("content_filter", "content_filter")])
def test_an_incomplete_response_says_why(reason: str, sent: str) -> None:
    made = response(HEAD, "incomplete", reason=reason)  # type: ignore[arg-type]  # a literal
    assert (made["status"], made["incomplete_details"]) == ("incomplete", {"reason": sent})


def test_a_failed_response_says_why() -> None:
    error = {"code": "server_error", "message": "No."}
    made = response(HEAD, "failed", output=[{"type": "message"}], error=error)
    assert (made["status"], made["error"], made["output"]) == ("failed", error, [{"type": "message"}])


def test_usage_adds_up() -> None:
    assert usage_object(UsageReported(prompt=3, completion=4, cached=2, reasoning=1)) == {
        "input_tokens": 3,
        "input_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 0},
        "output_tokens": 4,
        "output_tokens_details": {"reasoning_tokens": 1},
        "total_tokens": 7,
    }
    assert response(HEAD, "completed", usage=UsageReported(prompt=1, completion=1))["usage"]["total_tokens"] == 2


def test_an_items_id_leads_to_its_response() -> None:
    assert response_of(f"msg_{'t' * 48}0001") == HEAD.id
    assert response_of("x") == "resp_"


def test_codes_of_failures_are_of_causes_that_exist() -> None:
    assert set(CODES) <= set(FAILURES)
