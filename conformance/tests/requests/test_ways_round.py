from __future__ import annotations

import pytest

from wireproof.model.target import Adjustment
from wireproof.reading.asked import LIMITS
from wireproof.requests.adjusted import DISPENSABLE, OTHER_NAME
from wireproof.requests.ways_round import of_adjustment, sentence


@pytest.mark.parametrize("member", sorted(DISPENSABLE))
def test_a_member_that_requests_do_without_is_named_as_refused(member: str) -> None:
    said = sentence(of_adjustment(member, Adjustment(instead="", status=400, message="Not here.")))
    named = "every limit of tokens" if member in LIMITS else f"`{member}`"
    assert said.endswith(f", since {named} is refused (HTTP 400: Not here.)")


@pytest.mark.parametrize("member", sorted(OTHER_NAME))
def test_a_limit_that_is_sent_under_its_other_name_is_named_with_both(member: str) -> None:
    other = OTHER_NAME[member]
    said = sentence(of_adjustment(member, Adjustment(instead=other, status=400, message="Not here.")))
    assert said == f"judged with `{other}` for `{member}`, since `{member}` is refused (HTTP 400: Not here.)"
