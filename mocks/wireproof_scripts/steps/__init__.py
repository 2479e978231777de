"""The steps of a script: what a backend sends, one step after the other.

A script has one part per turn. A turn plays the steps of its part in order. A part without a `Finish`, `Fail`, `Crash`,
`Hang` or `ErrorNotice` ends as if `Finish()` were its last step. Steps after a `Finish` or `Fail` are late events: the
backend sends them although the turn is over. Steps after the last `Call` of a part are played together with the calls,
before the turn waits for their results.

Which part a turn plays: the part after the last one whose calls all have results in the conversation; if there is none,
the number of other conversations already seen with the same script and nonce; never beyond the last part.

A step is a class of one of these modules and its name in one of the groups that make up `Step`. The group says what
plays it: text of the answer (`Spoken`) is played by every backend and belongs to the right answer, without a line
elsewhere; what only the app-server can do says why, in `app_server`; what only Cursor's agent service can do
(`steps.cursor`), in `cursor`; what only the endpoint can do (`steps.http`), in `endpoint`. In files the name of a step
is the class name in lower case with hyphens; what may stand in a field follows from the annotation (`kinds`), what the
field means from the text under it. The reader of files, the JSON Schema and the table in the docs are derived from
that.
"""

# No `from __future__ import annotations` here: the annotations of the fields are read when the program runs.
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from wireproof_scripts.steps.app_server import (
    Asks,
    Code,
    Command,
    Crash,
    Cut,
    ErrorNotice,
    McpCall,
    Overload,
    Patch,
    Plan,
    Question,
    Raw,
    Repeat,
    Retry,
)
from wireproof_scripts.steps.cursor import Agentic
from wireproof_scripts.steps.http import Ending, Wire
from wireproof_scripts.steps.model import (
    Call,
    Fail,
    Finish,
    Reflect,
    Shape,
    Think,
    WebSearch,
)
from wireproof_scripts.steps.silence import (
    Gate,
    Hang,
    Open,
    Pace,
    Pause,
)
from wireproof_scripts.steps.text import (
    Say,
    Surrogates,
    Template,
    TextDelta,
)
from wireproof_scripts.steps.when import When
from wireproof_scripts.usage import Usage

__all__ = [
    "Answering",
    "Asks",
    "Call",
    "Code",
    "Command",
    "Crash",
    "Cut",
    "Doing",
    "Elsewhere",
    "ErrorNotice",
    "Fail",
    "Finish",
    "Gate",
    "Hang",
    "Library",
    "McpCall",
    "Notifications",
    "Open",
    "Overload",
    "Pace",
    "Parts",
    "Patch",
    "Pause",
    "Plan",
    "Question",
    "Raw",
    "Reflect",
    "Repeat",
    "Retry",
    "Say",
    "Script",
    "Sequence",
    "Shape",
    "Silence",
    "Spoken",
    "Step",
    "Surrogates",
    "Template",
    "TextDelta",
    "Think",
    "Usage",
    "WebSearch",
    "ends_turn",
    "only_app_server",
    "only_cursor",
    "only_endpoint",
]

Notifications = Literal["v2", "story", "nested", "double"]
"""The notifications that carry text, usage and ends.

`v2`: those of the played version. `double`: each of them twice, as versions up to 0.114 do it: as the typed
notification and as its `codex/event` twin. `story`: agentMessageDelta, agentMessage and tokenCount, another dialect.
`nested`: those of `story`, with all but the thread inside `msg`, as `codex/event` has it.
"""

Sequence = Literal["no", "conversation", "endpoint"]

# Unions, not base classes: `__subclasses__` lists each class with slots twice, and type checkers see when a `match`
# leaves one out.
Spoken = Say | Surrogates | Template
"""Text of the answer. Each of these has its `text`, which is part of the right answer, and its `deltas`, which are what
is played."""
Silence = Pause | Gate | Hang
"""What becomes silence."""
Answering = Think | WebSearch | Open | Call | Usage | Finish | Fail | Reflect
"""What the app-server and the model's service both play, each in its own way."""
Doing = Command | Patch | Code | Plan | McpCall | Question | Retry | Crash | ErrorNotice | Repeat | Cut | Raw
"""What only the app-server does. None of it is text of the right answer."""
Step = Spoken | Silence | Pace | Answering | Doing | Overload | Agentic | Wire
"""Every step. This is the one list of them: names, schema and docs come from `get_args(Step)`."""

Elsewhere = Agentic | Wire
"""What the mock of the app-server and the model's service never play."""

Parts = tuple[tuple[Step, ...], ...]
"""One tuple of steps per turn."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """A named script."""

    name: str
    """The name in markers and reports: letters, digits and . _ / -."""
    title: str
    """What the script is for, in a sentence."""
    parts: Parts
    """What each turn plays."""
    when: When | str | None = None
    """The script is chosen without a marker if this condition holds; a text alone must be contained in the last user
    message, in any case."""
    notifications: Notifications = "v2"
    """The notifications that carry text, usage and ends."""
    sequence: Sequence = "no"
    """Whether the parts answer one request each, in order, and the last one all that follow: the requests of one
    conversation are counted, or those of the whole endpoint."""
    choices: tuple[Parts, ...] = ()
    """For a request of several choices: the parts of each choice, in order; where a marker has chosen the script, in
    that in which their turns start under the nonce. Without it all choices play `parts`; in files it stands for them,
    too, and a request for one choice gets the first."""


Library = Mapping[str, Script]
"""Scripts by name."""


def ends_turn(step: Step) -> bool:
    """Whether the turn is over after this step."""
    return type(step) in _ENDS or (isinstance(step, Finish) and step.choice is None)


_ENDS = frozenset({Fail, *get_args(Ending)})
"""A set of types: to find that a step is of none of these by `isinstance` takes a look for each."""


def only_app_server(step: Step | type[Step]) -> str:
    """Why the model's service cannot play such a step, whatever its fields say; '' if it can."""
    return str(getattr(step, "app_server", ""))


def only_cursor(step: Step | type[Step]) -> str:
    """Why only Cursor's agent service plays such a step; '' if others do."""
    return str(getattr(step, "cursor", ""))


def only_endpoint(step: Step | type[Step]) -> str:
    """Why only the endpoint plays such a step; '' if others do."""
    return str(getattr(step, "endpoint", ""))
