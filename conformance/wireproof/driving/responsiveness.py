"""Whether an instance of a launched target still answers: asked with a request that it has answered before.

What leaves its instance hanging would else be told of whatever comes next. What is asked is to show that and to change
nothing: a request after which the backend ends, or that is left before the end of its answer, may itself be what makes
the instance hang. So may any other, as it turns out; then one of another kind is asked.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import httpx

from wireproof.model.transcript import End
from wireproof.targets.budget import SpentError

if TYPE_CHECKING:
    from wireproof.model.transcript import Transcript
    from wireproof.requests.plain import PreparedRequest
    from wireproof.targets.budget import Budget

GLANCE = 3.0
"""Seconds that a target has for any answer to a request that it has answered before."""
LOOK = 1.0
"""The same where nothing is said of it if it has none in time; a fresh instance then takes its place."""
ENOUGH = 2
"""How many times more instances have hung after such an answer than went on, before the next is taken to hang, too."""


class _How(Enum):
    """How an exchange went that was not answered with success, whatever was asked."""

    REFUSED = auto()
    UNFINISHED = auto()
    """The answer has no end, or the client left before it."""


class _Kind(NamedTuple):
    """A kind of requests that instances answer alike."""

    path: str
    streams: bool


class _Answered(NamedTuple):
    """A request that was answered, its URL without the base URL of the instance."""

    seconds: float
    request: PreparedRequest


@dataclass(kw_only=True)
class Responsiveness:
    """What instances are asked, and what that has shown; a run has one. Instances go by their base URLs."""

    _soonest: dict[_Kind, _Answered] = field(default_factory=dict)
    """Of the requests that an instance answers alike at any time, the one of each kind that was answered soonest."""
    _last: dict[str, _Kind | _How] = field(default_factory=dict)
    """An instance → what it has answered last since it was asked, or since it is fresh: which kind, or how else."""
    _went_on: defaultdict[_Kind | _How, Counter[bool]] = field(default_factory=lambda: defaultdict(Counter))
    """What an instance had answered last → how often it then answered what was asked, and how often not."""
    _asked: dict[str, _Kind] = field(default_factory=dict)
    """An instance → what it was asked, and answered, where it has answered nothing else since."""
    _well: Counter[_Kind] = field(default_factory=Counter)
    """How often an instance that was asked this answered the next request, too."""
    _hung: Counter[_Kind] = field(default_factory=Counter)
    """How often it answered nothing any more."""

    def note(self, base_url: str, answer: Transcript) -> None:
        """Note what came of a request."""
        whole = answer.end is End.COMPLETE
        self._last[base_url] = _How.UNFINISHED if not whole else _kind(answer) if answer.ok else _How.REFUSED
        if answer.status is not None and base_url in self._asked:
            self._well[self._asked.pop(base_url)] += 1

    def know(self, request: PreparedRequest, base_url: str, answer: Transcript) -> None:
        """Note a request that any instance answers alike at any time, with its answer."""
        kind = _kind(answer)
        if not answer.ok or answer.end is not End.COMPLETE:
            return
        if kind not in self._soonest or answer.seconds < self._soonest[kind].seconds:
            known = replace(request, url=request.url.removeprefix(base_url))
            self._soonest[kind] = _Answered(answer.seconds, known)

    def hangs(self, base_url: str) -> bool:
        """Note that an instance answers nothing any more, and is replaced; whether what it was asked may be why."""
        self._last.pop(base_url, None)
        kind = self._asked.pop(base_url, None)
        if kind is None:
            return False
        doubtful = self._well[kind] <= self._hung[kind]
        self._hung[kind] += 1
        return doubtful

    async def goes_on(self, client: httpx.AsyncClient, base_url: str, budget: Budget) -> bool:
        """Whether an instance answers something after what it has answered last, as far as can be found out."""
        last = self._last.pop(base_url, None)
        if last is None:
            return True
        seen = self._went_on[last]
        # Where nearly all have hung, asking would only take its time.
        if seen[False] > ENOUGH * (1 + seen[True]):
            return False
        answers = await self.is_answered(client, base_url, budget, LOOK)
        seen[answers] += 1
        return answers

    async def is_answered(self, client: httpx.AsyncClient, base_url: str, budget: Budget, seconds: float) -> bool:
        """Whether an instance gives any answer within these seconds; True where there is nothing to ask it with."""
        kind = min(self._soonest, key=self._doubt, default=None)
        if kind is None:
            return True
        request = self._soonest[kind].request
        try:
            await budget.take(request.body)
        except SpentError:
            return True  # as far as is known; the next request says it
        sent = client.build_request(
            request.method, base_url + request.url, headers=dict(request.headers), content=request.body,
            timeout=httpx.Timeout(seconds, pool=None),
        )  # fmt: skip
        begun = False
        try:
            async with asyncio.timeout(seconds), AsyncExitStack() as open_until_then:
                answer = await client.send(sent, stream=True)
                open_until_then.push_async_callback(answer.aclose)
                begun = True
                self._asked[base_url] = kind
                if not answer.is_success:
                    # What refuses it after all may hang after that.
                    del self._soonest[kind]
                    self._last[base_url] = _How.REFUSED
                # To its end: to leave before may be what makes it hang.
                async for _ in answer.aiter_raw():
                    pass
        except httpx.ConnectError:
            return True  # it has ended, which the next request shows
        except (TimeoutError, httpx.TransportError):
            return begun
        return True

    def _doubt(self, kind: _Kind) -> tuple[float, float]:
        """What the kind that is asked has least of: instances that it has left hanging, then seconds."""
        hung = self._hung[kind]
        return hung / (1 + hung + self._well[kind]), self._soonest[kind].seconds


def _kind(answer: Transcript) -> _Kind:
    return _Kind(urlsplit(answer.url).path, (answer.header("content-type") or "").startswith("text/event-stream"))
