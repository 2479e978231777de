from __future__ import annotations

from wireproof_surfaces.events import Arguments, Finished, Text, Thought, Usage
from wireproof_surfaces.surfaces.usage import Meter, estimate, usage_object


def test_the_total_is_the_sum() -> None:
    assert usage_object(Usage(prompt=5, completion=3, cached=2, reasoning=1)) == {
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
    assert estimate(9, 8) == Usage(prompt=3, completion=2)
    assert estimate(0, 0) == Usage(prompt=1, completion=1)


def test_what_was_reported_counts_the_last_time_for_each_choice() -> None:
    meter = Meter(lambda: 100)
    for event in (
        Usage(prompt=1, completion=1),
        Usage(choice=1, prompt=10, completion=10),
        Usage(prompt=2, completion=3),
    ):
        meter.take(event)
    assert meter.usage() == Usage(prompt=12, completion=13)


def test_reasoning_is_estimated_as_part_of_the_completion() -> None:
    meter = Meter(lambda: 40)
    # The reasoning itself where it is known, not its summary.
    for event in (Thought(summary=("12345678",), raw=("1234",)), Text(text="1234")):
        meter.take(event)
    assert meter.usage() == Usage(prompt=10, completion=2, reasoning=1)


def test_without_a_report_what_was_written_is_measured() -> None:
    meter = Meter(lambda: 40)
    for event in (Text(text="éé"), Arguments(id="c", text="1234"), Finished(reason="stop")):
        meter.take(event)
    assert meter.usage() == Usage(prompt=10, completion=2)
