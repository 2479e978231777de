"""Which calls of a script are answered, where a client may have ids of its own.

A proxy in front of an agent service may give each call an id that the script does not know, write calls under the names
and arguments of its client's tools, and say nothing of a call but its result. So what has a result in the conversation
is the script's call with that id; else the one with that name and those arguments; else, in their order, the next one
that nothing contradicts: neither another id of the script nor the name of another tool.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from wireproof_scripts.conversation import is_call, is_result
from wireproof_scripts.json_text import parse_json
from wireproof_scripts.steps import Call, Step, ends_turn
from wireproof_scripts.steps.cursor import Exec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof_scripts.steps import Parts

Item = Mapping[str, Any]
Asking = Call | Exec
"""A step that is answered by a result."""


def asking(part: Sequence[Step]) -> list[Asking]:
    """The calls of a part; not those after the end of its turn, which are late: no client answers them."""
    found: list[Asking] = []
    for step in part:
        if isinstance(step, (Call, Exec)):
            found.append(step)
        elif ends_turn(step):
            break
    return found


def parts_answered(parts: Parts, conversation: Sequence[Item]) -> int:
    """The number of the last part whose calls all have results, counted from 1; 0 if there is none."""
    wanted = [(number, step) for number, part in enumerate(parts, 1) for step in asking(part)]
    results = [item for item in conversation if is_result(item)]
    calls = {item.get("call_id"): item for item in conversation if is_call(item)}
    pairs = [(str(item.get("call_id")), calls.get(item.get("call_id"), {})) for item in results]
    left = wanted
    # Each rule takes what the rules before it have left: the surest comes first.
    for rule in (_has_id, _says_the_same, _may_be):
        left, pairs = _without_pairs(rule, left, pairs, [step for _, step in wanted])
    open_parts = {number for number, _ in left}
    with_calls = {number for number, _ in wanted}
    return max(with_calls - open_parts, default=0)


_Wanted = list[tuple[int, Asking]]
_Pairs = list[tuple[str, Item]]
_Rule = Callable[[Asking, str, Item, list[Asking]], bool]
"""Whether a result, by its id and its call, may be that of a step, which is one of these steps of the script."""


def _without_pairs(rule: _Rule, wanted: _Wanted, pairs: _Pairs, steps: list[Asking]) -> tuple[_Wanted, _Pairs]:
    """What is left on both sides when each result has taken the first call that the rule lets it take."""
    left, rest = list(wanted), []
    for pair in pairs:
        found = next((one for one in left if rule(one[1], *pair, steps)), None)
        if found is None:
            rest.append(pair)
        else:
            left.remove(found)
    return left, rest


def _has_id(step: Asking, id_: str, _call: Item, _steps: list[Asking]) -> bool:
    return bool(step.id) and step.id == id_


def _says_the_same(step: Asking, _id: str, call: Item, _steps: list[Asking]) -> bool:
    came = _object(call.get("arguments"))
    if isinstance(step, Call):
        return call.get("name") == step.name and came == _object(step.arguments)
    # The client's tools have other names for the service's, and for their arguments.
    # Whatever text there is a client writes down.
    values = (getattr(step, name) for name in type(step).__slots__ if name != "id")
    said = [value for value in values if isinstance(value, str) and value]
    return bool(said) and sorted(map(str, came.values())) == sorted(said)


def _may_be(step: Asking, id_: str, call: Item, steps: list[Asking]) -> bool:
    name = call.get("name")
    named = {one.name for one in steps if isinstance(one, Call)}
    known = id_ in {one.id for one in steps}
    return (
        not known
        and (not name or name == (step.name if isinstance(step, Call) else name))
        and not (isinstance(step, Exec) and name in named)
    )


def _object(text: object) -> dict[str, Any]:
    try:
        value = parse_json(str(text))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
