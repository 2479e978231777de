from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from wireproof_surfaces.answers.plan import backend_model, choice_rules
from wireproof_surfaces.errors import ApiError

if TYPE_CHECKING:
    from reference_proxy.tests.conftest import MakeSettings


def test_models_that_are_not_served_are_unknown(make_settings: MakeSettings) -> None:
    settings = make_settings(models=("codex", "gpt"))
    assert [backend_model(name, settings) for name in settings.models] == [None, "gpt"]
    with pytest.raises(ApiError) as raised:
        backend_model("x", settings)
    assert (raised.value.problem.code, raised.value.param) == ("model_not_found", "model")


def test_any_other_model_is_the_default_one_where_that_is_set(make_settings: MakeSettings) -> None:
    settings = make_settings(models=("codex", "gpt"), any_model=True, unknown_models=("x",))
    assert [backend_model(name, settings) for name in ("codex", "gpt", "a/b")] == [None, "gpt", None]
    with pytest.raises(ApiError):
        backend_model("x", settings)


@pytest.mark.parametrize(
    ("stream", "policy", "limit", "early", "settings"),
    [
        (True, "first", 1, True, {}),
        (True, "burst", None, True, {}),
        (True, "burst", 3, True, {"tool_block_max": 3}),
        (True, "burst", None, False, {"suppress_tail_after_tools": False}),
        (True, "first", 1, True, {"suppress_tail_after_tools": False}),
        (False, "first", None, False, {}),
        (False, "burst", 3, False, {"tool_block_max": 3}),
    ],
)
def test_rules_follow_from_the_policy_and_the_settings(
    make_settings: MakeSettings,
    stream: bool,  # noqa: FBT001 - a case
    policy: Any,
    limit: Any,
    early: bool,  # noqa: FBT001 - a case
    settings: dict[str, Any],
) -> None:
    rules = choice_rules(make_settings(**settings), stream=stream, policy=policy, calls=True)
    assert (rules.limit, rules.ends_early, rules.errors_win) == (limit, early, not stream)


def test_a_single_call_is_the_most_where_there_can_be_but_one(make_settings: MakeSettings) -> None:
    rules = choice_rules(make_settings(tool_block_max=3), stream=False, policy="burst", calls=False, single=True)
    assert (rules.limit, rules.calls) == (1, False)
