from __future__ import annotations

from wireproof_scripts.library.acting import ACTING
from wireproof_scripts.steps import Command, Patch, Retry, Say


def test_what_the_backend_does_is_asked_for_whatever_the_policy() -> None:
    acts = [step for script in ACTING for part in script.parts for step in part if isinstance(step, Command | Patch)]
    assert [type(act) for act in acts] == [Command, Patch]
    assert {act.asks for act in acts} == {"always"}


def test_each_try_repeats_what_was_said() -> None:
    ((*steps,),) = next(script.parts for script in ACTING if script.name == "act/retry")
    said = [step.text for step in steps if isinstance(step, Say)]
    assert said[-1].startswith(said[0])
    assert said[0] == said[1]
    assert [step.attempt for step in steps if isinstance(step, Retry)] == [1, 2]
