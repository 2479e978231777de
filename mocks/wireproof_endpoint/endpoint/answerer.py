"""What answers a request that was let in: the script that is selected for it, and its turns. No I/O and no clock."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wireproof_endpoint.api.limits import AnswerLimits, limited
from wireproof_endpoint.api.refusals import MISTAKEN, refuse_prose, unmatched
from wireproof_endpoint.journal.entry import NOT_KEPT
from wireproof_endpoint.journal.why import Why
from wireproof_endpoint.play import Play
from wireproof_endpoint.received import Received
from wireproof_endpoint.service.chaos import FAULTS, NAME, fault_of, why
from wireproof_endpoint.service.latency import delays
from wireproof_endpoint.turn import PlayedChoice, counts
from wireproof_endpoint.wire.play import WirePlay, reaches_the_wire
from wireproof_scripts.default.answer import default_answer
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.nonces import Nonces
from wireproof_scripts.selection import DEFAULT, Selection, conditions_of, rejected, select, without_cursor
from wireproof_scripts.values import lazy
from wireproof_surfaces.answers.chat import Chat
from wireproof_surfaces.answers.kept import AskedModels
from wireproof_surfaces.errors import BUSY, ApiError
from wireproof_surfaces.surfaces.chat_request import ANY_OBJECT

if TYPE_CHECKING:
    from wireproof_endpoint.endpoint.requested import EndpointRequest
    from wireproof_endpoint.play import WholeReply
    from wireproof_endpoint.settings import EndpointSettings
    from wireproof_scripts.nonces import Nonce
    from wireproof_scripts.selection import Conditions
    from wireproof_scripts.steps import Library, Step
    from wireproof_surfaces.answers.messages import Messages
    from wireproof_surfaces.answers.plan import AnswerPlan
    from wireproof_surfaces.answers.responses import Responses
    from wireproof_surfaces.conversation import Conversation
    from wireproof_surfaces.events import UsageReported

Scripts = Callable[[], "Library | ScriptError"]
"""Gives the scripts as they are now, or why they cannot be read. The same mapping is the same scripts."""
SERVICE: Mapping[str, Any] = {"service_tier": "default", "system_fingerprint": "fp_wireproof"}
"""What every chat answer says of the service. The fingerprint never changes: the same request has the same answer."""


class Answerer:
    """Answers by the scripts that `scripts` gives.

    `created`: the time of its start, in epoch seconds. `strict`: whether a request that no script matches is refused;
    else the default answers.
    """

    def __init__(
        self, settings: EndpointSettings, scripts: Scripts, *, created: int, strict: Callable[[], bool]
    ) -> None:
        self.settings = settings
        self._scripts = scripts
        self._strict = strict
        self.created = created
        self._library: Library = {}
        """The scripts as the last request found them; none where they cannot be read."""
        self._conditions: Conditions = ()
        self._nonces = Nonces()
        self._delays = delays(settings)
        self._numbers = itertools.count(1)
        self._logins = itertools.count(1)
        self.asked = AskedModels()
        """Names of models that are not listed by themselves."""
        self.chat = Chat(settings=settings, asked=self.asked, service=SERVICE)
        self._waiting: dict[int, set[Callable[[], object]]] = {}
        self.playing = 0
        """Answers under way."""
        self._chosen: set[str] = set()
        """The scripts that answered."""
        self._asked = 0
        """Requests for an answer so far."""
        self._headers: Mapping[str, str] = {}
        """Those of the request that is being answered."""
        self._refuse: Callable[[ApiError], WholeReply]
        """Makes its refusal."""
        self._entry = NOT_KEPT

    @lazy
    def responses(self) -> Responses:
        """Plans the answers of the Responses API."""
        # Not at the head: an endpoint starts with every run of a client's tests, and most ask for chat alone.
        from wireproof_surfaces.answers.kept import Store  # noqa: PLC0415
        from wireproof_surfaces.answers.responses import Responses  # noqa: PLC0415

        return Responses(settings=self.settings, store=Store(self.settings.responses_stored), asked=self.asked)

    @lazy
    def messages(self) -> Messages:
        """Plans the answers of the Messages API."""
        from wireproof_surfaces.answers.kept import Threads  # noqa: PLC0415
        from wireproof_surfaces.answers.messages import Messages  # noqa: PLC0415

        threads = Threads(self.settings.responses_stored)
        checked = self.settings.as_proxies_do
        return Messages(settings=self.settings, threads=threads, asked=self.asked, inputs_checked=checked)

    def next_login(self) -> int:
        """The number of the next tokens that are given."""
        return next(self._logins)

    def take(self, request: EndpointRequest) -> None:
        """Go on with this request: its headers select scripts, and its entry of the journal notes which."""
        self._headers = request.headers
        self._refuse = request.refused
        self._entry = request.entry
        request.entry.take(request.body)

    def play(self, plan: AnswerPlan, limits: AnswerLimits) -> Play:
        """The answer of a plan within limits, not begun yet.

        Raises:
            ApiError: 429, when too many are under way; 400, when it must be a script's and no script matches.
        """
        if self.settings.max_streams is not None and self.playing >= self.settings.max_streams:
            raise ApiError(BUSY)
        received = Received(plan.conversation, limits.settings)
        self._asked += 1
        turns = [self._turn(plan, received, limits, choice) for choice in range(plan.choices)]
        self.playing += 1
        kind = WirePlay if any(reaches_the_wire(turn.selection.parts) for turn in turns) else Play
        if plan.expect is not None:
            plan.expect(counts(turns[0].selection))
        return kind(plan, turns, self.settings, left=self._left, refuse=self._refuse)

    def counted(self, plan: AnswerPlan) -> UsageReported:
        """The counts that the answer of a plan would report, which is not played."""
        # Also where no script matches: a client counts before it asks, and much that it never asks.
        return counts(self._select(Received(plan.conversation), 0))

    def unchosen(self) -> tuple[str, ...]:
        """The scripts beside the library that no request has chosen so far."""
        scripts = self._scripts()
        if isinstance(scripts, ScriptError):
            return ()
        own = (name for name, script in scripts.items() if LIBRARY.get(name) is not script)
        return tuple(name for name in own if name not in self._chosen)

    def _left(self) -> None:
        self.playing -= 1

    def _selected(self, plan: AnswerPlan, received: Received, limits: AnswerLimits, choice: int) -> Selection:
        """What answers; nothing of it is played yet.

        Raises:
            ApiError: 400, when it must be a script's and no script matches, or the script's answer is none to this.
        """
        selection = self._select(received, choice)
        self._chosen.add(selection.script)
        refuses = selection.script == DEFAULT and self._strict()
        if self._entry.kept:
            self._note(selection, received.conversation, refuses=refuses)
        if selection.problem is not None:
            # Of the marker, or of the file: said as it is, since no backend has anything to do with it.
            raise ApiError(MISTAKEN, selection.problem, plan.fields.conversation)
        if refuses:
            raise unmatched(self._scripts(), received, plan.fields.conversation)
        if plan.conversation.schema is ANY_OBJECT:
            refuse_prose(selection, plan.fields.schema)
        if selection.script == DEFAULT:
            selection = replace(selection, parts=tuple(limited(part, limits) for part in selection.parts))
        return selection

    def _turn(self, plan: AnswerPlan, received: Received, limits: AnswerLimits, choice: int) -> PlayedChoice:
        return PlayedChoice(
            self._served(self._selected(plan, received, limits, choice), choice),
            received,
            later=self._after_all,
            changed=self.ring,
            choice=choice,
            choices=plan.choices,
            seed=plan.id,
        )

    def _served(self, selection: Selection, choice: int) -> Selection:
        """A selection as the service plays it: late, or with a failure in its place."""
        share, seed = self.settings.chaos, self.settings.seed
        if self._delays is not None:
            selection = _begun_by(self._delays(self._asked), selection)
        if share and (fault := fault_of(self._asked, share=share, seed=seed)) is not None:
            if choice == 0:
                self._entry.instead(NAME, why(fault, share, selection.script))
            selection = replace(selection, parts=(FAULTS[fault],), first=0)
        return selection

    def _select(self, received: Received, choice: int) -> Selection:
        # Looked for once a request. The file is read again when it changes, so it may be broken now.
        library = self._scripts()
        if isinstance(library, ScriptError):
            self._library, self._conditions = {}, ()
            return rejected(str(library))
        if library is not self._library:
            self._library, self._conditions = library, conditions_of(library)
        selection = select(
            library,
            self._nonces,
            history=received.history,
            given=received.given,
            tools=received.tools,
            call_id=self._call_id(),
            developer=received.developer,
            schema=received.conversation.schema,
            model=received.conversation.model,
            headers=self._headers,
            number=self._asked,
            choice=choice,
            conditions=self._conditions,
        )
        return without_cursor(selection)

    def _note(self, selection: Selection, conversation: Conversation, *, refuses: bool) -> None:
        """Note what was selected; why, is found out when somebody asks."""
        found = Why(
            library=self._library,
            conversation=conversation,
            headers=self._headers,
            number=self._asked,
            script=selection.script,
            by=selection.by,
            problem=selection.problem,
            first=selection.first,
            parts=len(selection.parts),
            refused=refuses,
        )
        script, part = (None, None) if refuses else (selection.script, selection.first)
        self._entry.choose(script, part, found)

    def _after_all(self, received: Received) -> tuple[Step, ...]:
        """What is played when all parts of a script are answered."""
        given = [{"type": "message", "role": "user", "content": received.given}] if received.given else []
        conversation, schema = [*received.history, *given], received.conversation.schema
        return default_answer(
            conversation, received.tools, self._call_id(), developer=received.developer, schema=schema
        )

    def _call_id(self) -> str:
        return f"call_{next(self._numbers):04}"

    # Waiting

    def listen(self, nonces: set[int], wake: Callable[[], object]) -> None:
        """Call `wake` whenever something changes under one of these nonces."""
        for nonce in nonces:
            self._waiting.setdefault(nonce, set()).add(wake)

    def unlisten(self, nonces: set[int], wake: Callable[[], object]) -> None:
        """No more."""
        for nonce in nonces:
            listening = self._waiting.get(nonce, set())
            listening.discard(wake)
            if not listening:
                self._waiting.pop(nonce, None)

    def ring(self, nonce: Nonce) -> None:
        """Something has changed under this nonce."""
        for wake in tuple(self._waiting.get(id(nonce), ())):
            wake()


def _begun_by(before: tuple[Step, ...], selection: Selection) -> Selection:
    """The selection with these steps before those of the part that it plays."""
    parts = list(selection.parts)
    if selection.first < len(parts):
        parts[selection.first] = (*before, *parts[selection.first])
    return replace(selection, parts=tuple(parts))
