from __future__ import annotations

import pytest

from wireproof_codex.versions.version import NEWEST


@pytest.mark.parametrize("status", [401, 403, 404, 502, 503])
def test_an_http_failure_is_sent_with_its_status_and_url(status: int) -> None:
    cause = NEWEST.failures.causes[f"http-{status}"]
    assert cause.message.startswith(f"unexpected status {status} ")
    assert ", url: http://" in cause.message
    assert cause.info == {"httpConnectionFailed": {"httpStatusCode": status}}
    assert not cause.began


def test_an_incomplete_answer_is_sent_by_its_reason() -> None:
    assert {reason: cause.message.rpartition(" ")[2] for reason, cause in NEWEST.failures.incomplete.items()} == {
        "length": "max_output_tokens",
        "content_filter": "content_filter",
    }
