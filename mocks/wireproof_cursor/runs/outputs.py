"""What a run sends: messages, how its response begins and ends, and silence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof_cursor_protos import agent_pb2 as pb
from wireproof_scripts.player import Until

if TYPE_CHECKING:
    from wireproof_cursor.wire.errors import ServiceProblem


@dataclass(frozen=True, slots=True)
class Begin:
    """The response begins: what comes now is a stream."""


@dataclass(frozen=True, slots=True)
class RefusedRun:
    """An HTTP error instead of a stream."""

    problem: ServiceProblem


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """The end of the stream, with a problem unless all went well."""

    problem: ServiceProblem | None = None


@dataclass(frozen=True, slots=True)
class CutStream:
    """The response ends without the envelope that ends a stream."""


@dataclass(frozen=True, slots=True)
class ClosedConnection:
    """The connection closes."""


Edge = Begin | RefusedRun | StreamEnd | CutStream | ClosedConnection
"""How a response begins and ends."""
Output = pb.AgentServerMessage | Edge | Until
