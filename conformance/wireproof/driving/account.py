"""What an answer says of the account behind a target, or of when it may be asked again: the whole run heeds it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from wireproof.driving.capacity import is_busy, retry_after
from wireproof.model.target import Backend
from wireproof.targets.lasting import NO_ENTRY, UNAUTHORIZED, is_about_key, lasting
from wireproof.targets.recognition import error_of
from wireproof.targets.target_clock import SpentError

if TYPE_CHECKING:
    from wireproof.model.target import Target
    from wireproof.model.transcript import Transcript
    from wireproof.targets.target_clock import TargetClock


def set_clock(target: Target, clock: TargetClock, answer: Transcript, sent_after: int) -> bool:
    """Have all requests wait as an answer asks; whether they do, and the run is not over with it.

    `sent_after`: how many refusals the clock had seen when the request was sent.

    Raises:
        SpentError: it is, and the answer is about the account.
    """
    live = target.backend is Backend.LIVE
    # With a script behind the target, the script may say so.
    why = lasting(answer.status, error_of(answer.body)) if live and not answer.ok else ""
    try:
        if why and answer.status not in NO_ENTRY:
            clock.stop(f"the target answers HTTP {answer.status}: {why}")
        elif is_busy(answer):
            clock.refused(answer.status or 0, retry_after(answer, datetime.now(UTC)), sent_after=sent_after)
        elif answer.status is not None:
            clock.served()
    except SpentError:
        # With no account behind it, that it has no capacity any more is the target's own fault.
        if live:
            raise
        return False
    return True


def bars(target: Target, answer: Transcript) -> bool:
    """Whether a service refuses the key that it has taken until now."""
    if target.backend is not Backend.LIVE or answer.status not in NO_ENTRY:
        return False
    key, sent = target.api_key, {value for _, value in answer.request_headers}
    # Some requests have a wrong key, or none, on purpose.
    if key is not None and not sent & {key, f"Bearer {key}"}:
        return False
    # 403 refuses what a request asks for, too: a model, a prompt, a picture.
    return answer.status == UNAUTHORIZED or is_about_key(error_of(answer.body))
