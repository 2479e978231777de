"""What is expected of a form from how others have gone."""

from __future__ import annotations

import pytest

from wireproof.driving.own_instances import Troubles
from wireproof.driving.planning import Planned
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import ConversationScenario, Form, Mode, Turn

CHAT, RESPONSES = Form(Dialect.OPENAI_JSON, Mode.STREAM), Form(Dialect.RESPONSES, Mode.WHOLE)


def item(script: str, form: Form = CHAT) -> tuple[Planned, Form]:
    scenario = ConversationScenario(
        name=f"{script} {form}", title="", exercises=(f"{script}",), script=script, turns=(Turn(say="Hi."),)
    )
    return Planned(scenario=scenario, forms=(form,), reason=""), form


def gone(*, with_trouble: int, without: int, form: Form = CHAT) -> Troubles:
    """How forms with calls have gone, beside as many without."""
    troubles = Troubles()
    for number in range(with_trouble + without):
        troubles.note(item("call/one", form), trouble=number < with_trouble, silent=True)
        troubles.note(item("text/hello", form), trouble=False)
    return troubles


@pytest.mark.parametrize(
    ("with_trouble", "without", "expected"),
    [(10, 0, True), (12, 3, True), (12, 4, False), (9, 0, False), (0, 20, False)],
)
def test_trouble_is_expected_where_nearly_all_that_is_alike_has_given_some(
    with_trouble: int, without: int, *, expected: bool
) -> None:
    troubles = gone(with_trouble=with_trouble, without=without)
    assert troubles.is_expected(item("call/empty-arguments")) is expected
    assert not troubles.is_expected(item("text/hello"))


def test_calls_of_one_dialect_say_nothing_of_those_of_another() -> None:
    troubles = gone(with_trouble=12, without=0)
    for _ in range(12):
        troubles.note(item("call/one", RESPONSES), trouble=False)
    assert troubles.is_expected(item("call/empty-arguments"))
    assert not troubles.is_expected(item("call/empty-arguments", RESPONSES))
