"""The refusals of requests that scripts cannot answer: none matches, or the one that does is not what was asked for."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from wireproof_scripts.asked.matching import described
from wireproof_scripts.conversation import input_text
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.json_text import parse_json
from wireproof_scripts.steps import Spoken, Template
from wireproof_scripts.steps.when import condition
from wireproof_surfaces.errors import INVALID, INVALID_PARAM, ApiError, Problem

if TYPE_CHECKING:
    from wireproof_endpoint.received import Received
    from wireproof_scripts.selection import Selection
    from wireproof_scripts.steps import Library, Script

NO_SCRIPT = Problem(400, INVALID, "no_script_matches", "No script matches this request.")
MISTAKEN = Problem(400, INVALID, "script_mistake", "There is a mistake in a script.")
_SHOWN = 120
"""Characters of a text."""
_LISTED = 20
"""Scripts."""
_CLOSE = 0.3
"""How alike, from 0 to 1, a text must be to be called near."""


def unmatched(library: Library | ScriptError, received: Received, param: str) -> ApiError:
    """The error, of the field `param`; it names the script whose `when` is most like what the user said, if any is."""
    said = input_text(received.given) or "nothing"
    shown = said if len(said) <= _SHOWN else f"{said[:_SHOWN]}…"
    scripts = [] if isinstance(library, ScriptError) else [one for one in library.values() if one.when is not None]
    nearest = max(scripts, key=lambda script: _likeness(script, said), default=None)
    if nearest is None:
        hint = "no script has a `when`: give one, or send a marker, [[wireproof:SCRIPT#1]]"
    elif _likeness(nearest, said) < _CLOSE:
        more = f" and {len(scripts) - _LISTED} more" if len(scripts) > _LISTED else ""
        listed = ", ".join(f"{_shown(one)} ({one.name})" for one in scripts[:_LISTED])
        hint = f"scripts are chosen by: {listed}{more}"
    else:
        hint = f"the nearest is {nearest.name}, chosen when {described(condition(nearest.when or ''))}"
    return ApiError(NO_SCRIPT, f"No script matches {shown!r}: {hint}.", param)


def refuse_prose(selection: Selection, param: str) -> None:
    """Refuse a request for any JSON object whose script answers in prose: to answer so would be to ignore it.

    Raises:
        ApiError: 400, naming the field `param`, which says how the answer is to look.
    """
    part = selection.parts[selection.first] if selection.first < len(selection.parts) else ()
    if any(isinstance(step, Template) for step in part):
        return  # what it says is known when it is filled
    text = "".join(step.text for step in part if isinstance(step, Spoken))
    if text and not _is_object(text):
        said = f"the script {selection.script} answers with text that is no JSON object"
        raise ApiError(INVALID_PARAM, f"`{param}` must be of type text or json_schema: {said}.", param)


def _is_object(text: str) -> bool:
    try:
        return isinstance(parse_json(text), dict)
    except ValueError:
        return False


def _shown(script: Script) -> str:
    return repr(script.when) if isinstance(script.when, str) else described(condition(script.when or ""))


def _likeness(script: Script, said: str) -> float:
    text = condition(script.when or "").text
    return difflib.SequenceMatcher(None, text.text.casefold() if text else "", said[:1000].casefold()).ratio()
