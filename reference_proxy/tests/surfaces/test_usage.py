from __future__ import annotations

from wireproof_surfaces.events import ArgumentsAdded, ChoiceFinished, TextAdded, Thought, UsageReported
from wireproof_surfaces.surfaces.usage import Meter, estimate, usage_object


def test_the_total_is_the_sum() -> None:
    assert usage_object(UsageReported(prompt=5, completion=3, cached=2, reasoning=1)) == {
        "prompt_tokens": 5,
        "completion_tokens": 3,
        "total_tokens": 8,
        "prompt_tokens_details": {"cached_tokens": 2, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 1,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def test_an_estimate_is_about_four_bytes_to_a_token_and_never_nothing() -> None:
    assert estimate(9, 8) == UsageReported(prompt=3, completion=2)
    assert estimate(0, 0) == UsageReported(prompt=1, completion=1)


def test_what_was_reported_counts_the_last_time_for_each_choice() -> None:
    meter = Meter(lambda: 100)
    for event in (
        UsageReported(prompt=1, completion=1),
        UsageReported(choice=1, prompt=10, completion=10),
        UsageReported(prompt=2, completion=3),
    ):
        meter.take(event)
    assert meter.usage() == UsageReported(prompt=12, completion=13)


def test_reasoning_is_estimated_as_part_of_the_completion() -> None:
    meter = Meter(lambda: 40)
    # The reasoning itself where it is known, not its summary.
    for event in (Thought(summary=("12345678",), raw=("1234",)), TextAdded(text="1234")):
        meter.take(event)
    assert meter.usage() == UsageReported(prompt=10, completion=2, reasoning=1)


def test_without_a_report_what_was_written_is_measured() -> None:
    meter = Meter(lambda: 40)
    for event in (TextAdded(text="éé"), ArgumentsAdded(id="c", text="1234"), ChoiceFinished(reason="stop")):
        meter.take(event)
    assert meter.usage() == UsageReported(prompt=10, completion=2)
