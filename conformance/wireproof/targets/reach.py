"""From options to a target that runs: at a URL, started by a command, a gateway, or the bundled proxy."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from wireproof.model.dialect import Surface
from wireproof.model.target import Agent, Backend, Missing, Target, WayTaken
from wireproof.model.verdict import HarnessError
from wireproof.requests.ways_round import CODEX_ON_PATH, OTHER_HEALTH
from wireproof.targets import bundled
from wireproof.targets.bundled import behind
from wireproof.targets.clients import check_environment
from wireproof.targets.codex import real_codex
from wireproof.targets.cursor_agent import cursor_agent
from wireproof.targets.gateway import RunningUpstream, asks_for_key, fill, gateway, upstream, variables
from wireproof.targets.launch import LOCAL, launch
from wireproof.targets.preflight import preflight
from wireproof.targets.unready_instance import unready_instance
from wireproof.targets.validity import check

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wireproof.targets.budget import Budget
    from wireproof.targets.codex import RealCodex
    from wireproof.targets.cursor_agent import CursorAgent
    from wireproof.targets.launch import Launched
    from wireproof.targets.options import TargetOptions


@contextmanager
def reach(options: TargetOptions, *, hurried: bool = False, budget: Budget | None = None) -> Iterator[Target]:
    """The target, running and past its preflight, for the length of a `with` block.

    Args:
        options: What a person says of it.
        hurried: Whether all that the run will need is started at once.
        budget: What the command may send; None: see `preflight`.

    Raises:
        HarnessError: it cannot be reached or driven.
        OptionError: see `check`, `TargetOptions.api_key` and `TargetOptions.carried`.
    """
    # Both here, too, and not only in `plan`: whoever reaches a target by itself gets the same refusals.
    check(options)
    if options.url is not None:
        check_environment(options.url)
    found: dict[str, Any] = {
        "api_key": options.api_key(), "key_variable": options.api_key_env, "absent": options.declared_absent(),
        **options.carried(),
    }  # fmt: skip
    with ExitStack() as stack:
        # Entered first, so stopped last: the proxy's Codex would report its service's end as a failure.
        codex = stack.enter_context(real_codex(options.codex)) if options.codex else None
        cursor = None
        if options.agent is Agent.CURSOR and (options.command is not None or options.url is None):
            cursor = stack.enter_context(cursor_agent())
        if options.gateway is not None:
            behind_it = stack.enter_context(upstream(timeout=options.start_timeout))
            launched = stack.enter_context(gateway(options.gateway, options, behind_it))
            yield _of_gateway(options, launched.base_url, behind_it, found, budget)
        elif options.upstream is not None and options.url is not None:
            behind_it = stack.enter_context(upstream(options.upstream, timeout=options.start_timeout))
            yield _of_gateway(options, options.url, behind_it, found, budget)
        elif options.command is not None:
            launched, more = stack.enter_context(_launched(options, options.command, codex, cursor))
            target = target_of(options, base_url=launched.base_url, **more, **found)
            # `behind` before the preflight, which asks for calls in another way where the backend takes no tools.
            yield _worked_round(_with_mock(preflight(behind(target, codex, cursor), budget)), launched)
        elif options.url is not None:
            # What is behind a proxy that runs already a person declares, or an answer proves; no version is asked for.
            target = target_of(options, base_url=options.url, **found)
            yield preflight(replace(target, backend=_DECLARED.get(options.agent, Backend.LIVE)), budget)
        else:
            started = bundled.proxy(
                start_timeout=options.start_timeout, codex=codex, cursor=cursor, hurried=hurried, budget=budget,
                timeout=options.timeout, answer_seconds=options.answer_seconds, answer_bytes=options.answer_bytes,
                dialects=options.dialects, wanted=options.wanted, absent=options.declared_absent(),
            )  # fmt: skip
            yield _with_mock(stack.enter_context(started))


_DECLARED: Mapping[Agent | None, Backend] = {Agent.CODEX: Backend.MOCK, Agent.CURSOR: Backend.CURSOR}
"""What is behind a proxy that runs already, if a person says that a mock is."""

_LACKS: Mapping[Surface | None, Missing] = {Surface.CHAT: Missing.TEXT_BESIDE_CALLS, Surface.MESSAGES: Missing.SPELLING}
"""What a gateway's upstream is asked for → what its answers do not have then."""
SPARES = 3
"""Instances beside the first one of a launched proxy, which are started when they are needed."""


@contextmanager
def _launched(
    options: TargetOptions, command: str, codex: RealCodex | None, cursor: CursorAgent | None
) -> Iterator[tuple[Launched, dict[str, Any]]]:
    """The proxy that a command starts, and the fields of a target for its other instances, in a `with` block."""
    url = options.url or LOCAL
    ready = cursor.placeholders(cursor.url) if cursor else {}
    env = {**(codex.env if codex else {}), **(cursor.env if cursor else {}), **variables(options.env, ready)}
    # At a fixed port there is no room for another one.
    spares = SPARES if "{port}" in url else 0
    start = partial(launch, fill(command, ready), env=env, url=url, timeout=options.start_timeout)
    with ExitStack() as stack, start() as launched:
        spare_urls = tuple(stack.enter_context(start(at_need=True)).base_url for _ in range(spares))
        unready = cursor.placeholders(cursor.nowhere) if cursor else {}
        env = {**env, **variables(options.env, unready)}
        # After the proxy itself: if that cannot start, its own error is the one to show.
        nowhere = {**cursor.unready, **variables(options.env, unready)} if cursor else None
        with unready_instance(fill(command, unready), env=env, url=url, unready=nowhere) as unready_url:
            yield launched, {"unready_url": unready_url, "spare_urls": spare_urls}


def _worked_round(target: Target, launched: Launched) -> Target:
    """The target with the ways round faults that were taken when it was started."""
    ways = list(target.ways)
    if launched.ready_by:
        ways.append(WayTaken(name=OTHER_HEALTH.name, answer=f"GET {launched.ready_by} was answered"))
    if launched.codex_used.exists():
        ways.append(WayTaken(name=CODEX_ON_PATH.name, answer="the mock was started as codex"))
    return replace(target, ways=tuple(ways))


def target_of(options: TargetOptions, *, base_url: str, **found: Any) -> Target:  # noqa: ANN401 (fields of a target)
    """The target that options declare: each option that has the name of a field of a target becomes that field.

    `found` are the fields that no option gives.
    """
    names = {one.name for one in fields(Target)}
    declared = {one.name: getattr(options, one.name) for one in fields(options) if one.name in names}
    return Target(base_url=base_url.rstrip("/"), **declared, **found)


def _of_gateway(
    options: TargetOptions,
    base_url: str,
    behind_it: RunningUpstream,
    found: Mapping[str, Any],
    budget: Budget | None,
) -> Target:
    """A gateway past its preflight; without a key of its own it is sent the upstream's, which many pass on."""
    declared = target_of(options, base_url=base_url, **found)
    # Some gateways learn from a header where their upstream is.
    headers = tuple((name, fill(value, behind_it.placeholders())) for name, value in declared.headers)
    key = declared.api_key or behind_it.key
    missing = frozenset({Missing.SETTINGS} if options.login is not None else ())
    found_at = replace(declared, backend=Backend.ENDPOINT, headers=headers, api_key=key, missing=missing)
    try:
        target = preflight(found_at, budget)
    except HarnessError as error:
        raise HarnessError(f"{error}{behind_it.refused()}") from error
    if target.backend is Backend.LIVE:
        where = f"call {behind_it.base_url} with the key of that upstream"
        raise HarnessError(f"the gateway does not send what the upstream says: does it {where}?{behind_it.refused()}")
    lacks = _LACKS.get(behind_it.asked_alone())
    target = replace(target, missing=target.missing | {lacks}) if lacks else target
    # A key that was not declared is not judged where it makes no difference.
    is_judged = declared.api_key is not None or asks_for_key(target, budget)
    return target if is_judged else replace(target, api_key=None)


def _with_mock(target: Target) -> Target:
    if target.backend is Backend.LIVE:
        # Certified as live it would be partial, with most of it not observed, for a mistake in the command.
        raise HarnessError("the launched proxy does not send what the mock says: does it start CODEX_BIN?")
    return target
