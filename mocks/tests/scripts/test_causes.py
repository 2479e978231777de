"""Every player knows every cause, and no other."""

from __future__ import annotations

from wireproof_codex.versions import failures as codex
from wireproof_mocks.upstream import failing as upstream
from wireproof_scripts.steps.causes import CAUSES


def test_the_codex_mock_has_a_message_for_each() -> None:
    assert codex.CAUSES_0_89.keys() == CAUSES.keys()


def test_the_models_service_sends_each_or_says_why_it_cannot() -> None:
    assert upstream.FAILURES.keys() | upstream.ELSEWHERE.keys() == CAUSES.keys()
    assert not upstream.FAILURES.keys() & upstream.ELSEWHERE.keys()


def test_each_has_its_meaning_in_a_sentence() -> None:
    assert [name for name, meaning in CAUSES.items() if not meaning.endswith(".")] == []
