from __future__ import annotations

from typing import Any

import pytest

from wireproof_mocks.miniatures.fault import FaultHead, SentRequest
from wireproof_mocks.miniatures.other_faults import CHOICE_FAULTS

FAULTS = {fault.name: fault for fault in CHOICE_FAULTS}
ASKED = SentRequest(method="POST", path="/v1/chat/completions", body=b"{}", key="")
HEAD = FaultHead(status="200 OK", headers=[("X-Proxy-Output-Mode", "openai-json"), ("X-One", "1")])


def test_each_of_two_choices_is_sent_as_the_other() -> None:
    change = FAULTS["choices-swapped"].frames
    assert change is not None
    sent: list[Any] = [{"choices": [{"index": 0}]}, {"choices": [{"index": 1}]}, {"choices": []}, "[DONE]"]
    swapped = [{"choices": [{"index": 1}]}, {"choices": [{"index": 0}]}, {"choices": []}, "[DONE]"]
    assert [*change(sent, ASKED)] == swapped


def test_only_the_first_choice_is_sent() -> None:
    change = FAULTS["whole-one-choice-of-two"].whole
    assert change is not None
    assert change({"choices": [1, 2]}, ASKED, HEAD) == {"choices": [1]}
    assert change({"error": {}}, ASKED, HEAD) == {"error": {}}


@pytest.mark.parametrize(
    ("name", "asked", "received"),
    [
        ("mode-set-up-ignored", None, "openai-json"),
        ("mode-set-up-ignored", "obsidian-xml", "obsidian-xml"),
        ("unknown-mode-forgiven", "yaml", None),
        ("unknown-mode-forgiven", "obsidian-xml", "obsidian-xml"),
        ("unknown-mode-forgiven", None, None),
    ],
)
def test_another_mode_is_received(name: str, asked: str | None, received: str | None) -> None:
    change = FAULTS[name].environ
    assert change is not None
    environ = {"HTTP_X_PROXY_OUTPUT_MODE": asked} if asked else {}
    change(environ)
    assert environ.get("HTTP_X_PROXY_OUTPUT_MODE") == received


def test_the_mode_is_not_echoed() -> None:
    change = FAULTS["mode-not-echoed"].head
    assert change is not None
    assert change(HEAD, ASKED).headers == [("X-One", "1")]
