"""The versions of the app-server that the mock can be: what differs between them, as data.

What a version does otherwise is a field here, never a branch on a number. Lists of names that came and went stand in
`methods`, `fields` and `params`, what became of stored threads in `stored`; everything else that changed, and when, in
`_CHANGES`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from assay_codex.versions.failures import CAUSES, INCOMPLETE, Cause
from assay_codex.versions.fields import NOTIFICATIONS, hidden_fields
from assay_codex.versions.marks import known, minor, unknown
from assay_codex.versions.methods import METHODS, STABLE
from assay_codex.versions.older_failures import (
    CAUSES_0_89,
    CAUSES_0_95,
    CAUSES_0_100,
    CAUSES_0_160,
    INCOMPLETE_0_89,
    INCOMPLETE_0_100,
)
from assay_codex.versions.params import gated_fields, gated_methods, overlooked, params_of
from assay_codex.versions.stored import Stored, stored_by

if TYPE_CHECKING:
    from assay_codex.protocol.params import Table
    from assay_codex.versions.forms import Forms


Transport = Literal["ws", "ws-auth", "ws-digest", "ws-guard", "unix"]
Signal = Literal["SIGINT", "SIGTERM", "SIGHUP"]
Beginning = Literal["turn", "task", "status"]
Asking = Literal["start", "older", "status"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """One version of `codex app-server`.

    `methods`: every request it accepts, in the order in which it lists them. `params`: what their parameters must
    be. `gated`: methods that need the capability experimentalApi, `gated_fields` the parameters that do, by method;
    `gates_empty`: also where they are empty lists. `transports`: what it takes besides stdio: addresses for
    WebSockets (`ws`), tokens for them (`ws-auth`), their digests (`ws-digest`), none but loopback addresses without
    (`ws-guard`), Unix sockets (`unix`); there the signals `drains_on` let running turns end before the process
    does, a second one ends it at once, and other signals kill it. `draining`: the data of the error that refuses to
    begin more meanwhile, None if nothing is refused. `overloads`: of many requests at once some are refused and
    some never answered. `opt_out`: clients can mute notifications. `max_input_chars`: the longest user input, None
    for any. `remote_images`: images may be named by URLs that are to be fetched. `detail_first`: the detail of an
    image is told before its URL. `always_a_root`: a thread without environments has its folder as a root. `ignored`:
    parameters of thread/start that came later, and are overlooked. `checks_tools`: tools must have names that the
    model's service takes, once each, and schemas.

    `forms`: the fields it does not tell. `unsent`: notifications that it does not know. `unsent_items`: items that it
    does not tell. `emitted_at`: notifications carry `emittedAtMs`. `double`: every event is told in the older family
    too. `counts_first`: token counts and limits are told when the model begins to answer, and when its answer is over,
    not when the turn fails or calls are answered. `counts_incomplete`: also those of an answer that was cut short.
    `status_first`: a new thread's status is told before it. `begins`: the order in which a turn's start is told.
    `empty_texts`: in the older family a text without words is one, too. `mode`: the name of the usual collaboration
    mode, `history_mode` how threads are kept, `personality` that of a thread. `summaries`: turn/completed holds the
    last text. `context_window`: the most tokens, None if it knows none. `citations`: those in the model's text are kept
    from the client.

    `awaits_calls`: an answer that breaks off after a call fails when its calls are answered, not at once.
    `tells_cancelled`: calls that an interrupt cancels are told as failed; else the model alone gets to know, as it
    does of the interrupt (`notes_interrupts`: told raw).

    `tool_answers`: the field of a tool's answer that holds its output. `single_text`: an output of one text is told to
    the model as a text, not as a list.

    `shell`: what runs commands. `splits_commands`: their parts are told. `unified_exec`: they are processes of their
    own, whose output is told at their end. `null_reasons`: requests for approval tell that they have no reason.
    `whole_paths`: a turn's diff names files by their whole paths. `asking`: what is told before the client is asked
    about a command: its item, the older family's request, the thread's status. `refuses_twice`: what the client does
    not approve of ends twice. `hangs_on_errors`: an error as an answer leaves the turn waiting for ever.
    `wrong_answers`: how an answer ends that is none.

    `compacts_at`: how many tokens long a conversation is that is summed up, None if none is; `raw_summaries`: that is
    told raw; `warns_of_summaries`: the client is warned. `hears_all`: input that waits for one that fails is told.
    `counted_turns`: turns of a thread are numbered from 0, interrupts and overrides with them. `checks_turn_id`:
    turn/interrupt must name the turn that runs. `busy`: what turn/start does on a busy thread: it `queues` behind the
    model's answer, telling a turn that never ends; does so `untold`; `joins` the running turn; or `steers`, cutting the
    answer short. `tells_queued`: queued input is told as an item. `no_input`: what a turn without input does: it
    `completes` without the model, `hangs`, is `refused`, or `asks` the model. `leaving`: who unsubscribes closes the
    thread.

    `stored`: what it does with stored threads.

    `reconnects`: a service that is not reached is tried again and again. `causes`, `incomplete`: how failures look.
    `bad_config`: how a wrong configuration is told.
    """

    number: str
    methods: tuple[str, ...]
    params: Table
    gated: frozenset[str]
    gated_fields: Mapping[str, tuple[str, ...]]
    gates_empty: bool
    transports: frozenset[Transport]
    drains_on: tuple[Signal, ...]
    draining: Mapping[str, Any] | None
    overloads: bool
    opt_out: bool
    max_input_chars: int | None
    remote_images: bool
    detail_first: bool
    always_a_root: bool
    ignored: frozenset[str]
    checks_tools: bool

    forms: Forms
    unsent: frozenset[str]
    unsent_items: frozenset[str]
    emitted_at: bool
    double: bool
    counts_first: bool
    counts_incomplete: bool
    status_first: bool
    begins: tuple[Beginning, ...]
    empty_texts: bool
    mode: str
    history_mode: str
    personality: str | None
    summaries: bool
    context_window: int | None
    citations: bool

    awaits_calls: bool
    tells_cancelled: bool
    notes_interrupts: bool

    tool_answers: Literal["output", "contentItems"]
    single_text: bool

    shell: str
    splits_commands: bool
    unified_exec: bool
    null_reasons: bool
    whole_paths: bool
    asking: tuple[Asking, ...]
    refuses_twice: bool
    hangs_on_errors: bool
    wrong_answers: Literal["declined", "failed"]

    compacts_at: int | None
    raw_summaries: bool
    hears_all: bool
    warns_of_summaries: bool

    counted_turns: bool
    checks_turn_id: bool
    busy: Literal["queues", "untold", "joins", "steers"]
    tells_queued: bool
    no_input: Literal["completes", "hangs", "refused", "asks"]
    leaving: bool

    reconnects: bool
    stored: Stored

    causes: Mapping[str, Cause]
    incomplete: Mapping[str, Cause]
    bad_config: str


_Changes = Mapping[str, Any]
_WS: frozenset[Transport] = frozenset({"ws"})

# The first version in which each change was seen, and the fields that hold from it on.
_CHANGES: tuple[tuple[int, _Changes], ...] = (
    (
        89,
        {
            "gates_empty": False,
            "transports": frozenset[Transport](),
            "drains_on": (),
            "draining": None,
            "overloads": False,
            "opt_out": False,
            "max_input_chars": None,
            "remote_images": True,
            "detail_first": True,
            "always_a_root": True,
            "checks_tools": False,
            "unsent_items": frozenset({"dynamicToolCall"}),
            "emitted_at": False,
            "double": True,
            "counts_first": True,
            "counts_incomplete": False,
            "status_first": False,
            "begins": ("turn", "task", "status"),
            "empty_texts": False,
            "mode": "custom",
            "history_mode": "legacy",
            "personality": "pragmatic",
            "summaries": False,
            "context_window": None,
            "citations": False,
            "awaits_calls": False,
            "tells_cancelled": True,
            "notes_interrupts": False,
            "tool_answers": "output",
            "single_text": True,
            "shell": "bash",
            "splits_commands": True,
            "unified_exec": False,
            "null_reasons": True,
            "whole_paths": True,
            "asking": ("start", "older", "status"),
            "refuses_twice": True,
            "hangs_on_errors": True,
            "wrong_answers": "declined",
            "compacts_at": None,
            "raw_summaries": False,
            "hears_all": False,
            "warns_of_summaries": True,
            "counted_turns": True,
            "checks_turn_id": False,
            "busy": "queues",
            "tells_queued": False,
            "no_input": "completes",
            "leaving": False,
            "reconnects": False,
            "causes": CAUSES_0_89,
            "incomplete": INCOMPLETE_0_89,
            "bad_config": "error deriving config",
        },
    ),
    (94, {"hangs_on_errors": False}),
    (95, {"causes": CAUSES_0_95, "mode": "default"}),
    (98, {"tool_answers": "contentItems", "single_text": False, "tells_queued": True}),
    (99, {"opt_out": True, "context_window": 258_400, "no_input": "hangs", "compacts_at": 244_800}),
    (99, {"shell": "/bin/bash", "unified_exec": True, "refuses_twice": False, "asking": ("older", "status")}),
    (100, {"transports": _WS, "overloads": True, "counted_turns": False}),
    (100, {"causes": CAUSES_0_100, "incomplete": INCOMPLETE_0_100}),
    (105, {"drains_on": ("SIGINT",)}),
    (105, {"status_first": True, "empty_texts": True, "null_reasons": False}),
    (106, {"unsent_items": frozenset(), "max_input_chars": 1_048_576, "leaving": True, "citations": True}),
    (110, {"status_first": False, "begins": ("task", "status", "turn"), "busy": "untold", "splits_commands": False}),
    (113, {"tells_cancelled": False}),
    (114, {"single_text": True, "drains_on": ("SIGINT", "SIGTERM")}),
    (115, {"double": False, "begins": ("status", "turn", "task"), "bad_config": "failed to load configuration"}),
    (118, {"no_input": "refused", "transports": _WS | {"ws-auth"}}),
    (121, {"awaits_calls": True}),
    (125, {"asking": ("status", "start"), "gates_empty": True, "leaving": False}),
    (131, {"counts_first": False}),
    (133, {"no_input": "asks"}),
    (134, {"transports": _WS | {"ws-auth", "ws-digest", "ws-guard", "unix"}}),
    (134, {"drains_on": ("SIGINT", "SIGTERM", "SIGHUP"), "checks_tools": True, "checks_turn_id": True}),
    (140, {"notes_interrupts": True}),
    (142, {"raw_summaries": True}),
    (145, {"always_a_root": False}),
    (150, {"busy": "joins", "emitted_at": True, "summaries": True, "remote_images": False, "wrong_answers": "failed"}),
    (150, {"reconnects": True}),
    (160, {"hears_all": True, "draining": {}, "detail_first": False}),
    (160, {"causes": CAUSES_0_160, "history_mode": "paginated", "personality": None}),
    (163, {"tells_cancelled": True}),
    (169, {"causes": CAUSES, "incomplete": INCOMPLETE, "counts_incomplete": True, "busy": "steers"}),
    (169, {"whole_paths": False, "warns_of_summaries": False, "draining": {"reason": "serverShuttingDown"}}),
)
_ANY_EFFORT = 142
_FILE_IDS = 160


def _version(number: str) -> Version:
    at = minor(number)
    changed: dict[str, Any] = {}
    for first, changes in _CHANGES:
        changed |= changes if first <= at else {}
    return Version(
        number=number,
        methods=known(METHODS, number),
        params=params_of(number, any_effort=at >= _ANY_EFFORT, files=at >= _FILE_IDS),
        gated=gated_methods(number),
        gated_fields=gated_fields(number),
        ignored=overlooked(number),
        forms=hidden_fields(number),
        unsent=unknown(NOTIFICATIONS, number),
        stored=stored_by(at),
        **changed,
    )


class Versions(Mapping[str, Version]):
    """Every stable version by its number; each is made when it is asked for."""

    def __init__(self, numbers: tuple[str, ...]) -> None:
        self._made: dict[str, Version | None] = dict.fromkeys(numbers)

    def __getitem__(self, number: str) -> Version:
        made = self._made[number]
        if made is None:
            made = self._made[number] = _version(number)
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


VERSIONS = Versions(tuple(STABLE.split()))
NEWEST = VERSIONS["0.169.0"]
PLAYED = f"every stable version from {next(iter(VERSIONS))} to {NEWEST.number}"
