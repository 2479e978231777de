"""The target in a result: how it was reached, what each surface of it does, and which ways round faults were taken."""

# ruff: noqa: TC001 (pydantic reads the annotations)

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from wireproof.model.capability import Use
from wireproof.model.dialect import Dialect, Surface
from wireproof.model.target import Backend, KeyStyle, SurfaceState
from wireproof.model.verdict import Verdict


class ReportPart:
    """What reads a part of a result: it is refused with a member too many, and its schema has these docstrings."""

    # As pydantic's `ConfigDict`, which is a plain dictionary: this module imports no library.
    __pydantic_config__: ClassVar = {"use_attribute_docstrings": True, "extra": "forbid", "allow_inf_nan": False}


@dataclass(frozen=True, kw_only=True)
class SurfaceFound(ReportPart):
    """A surface of the target."""

    surface: Surface
    state: SurfaceState
    reason: str
    """Why it is absent or not judged; "" where a text came."""
    status: int | None
    """The HTTP status of the answer that showed it."""
    said: str
    """The first characters of that answer's body."""
    seconds: float | None
    """How long a plain answer took; null: no text came."""
    dialects: tuple[Dialect, ...]
    """The dialects of it that are judged."""
    unspoken: dict[Dialect, str]
    """The dialects of it that are not judged → why."""
    capabilities: dict[str, Use]
    """What became of each capability."""

    @property
    def spoken(self) -> tuple[Dialect, ...]:
        """The dialects of it that are judged, without one that bears the name of the surface."""
        return tuple(one for one in self.dialects if one.value != self.surface.value)


@dataclass(frozen=True, kw_only=True)
class WayRoundTaken(ReportPart):
    """A way round a fault that the run took."""

    name: str
    surface: Surface | None
    """The surface whose requests it changes; null: it is about the launch, or about the course of the run."""
    judged: str
    """What was changed, why, and what showed it, as a sentence."""
    broken: dict[str, Verdict]
    """The requirements that the fault breaks, as the scenarios show that were driven without the way → the verdict."""
    shown_by: tuple[str, ...]
    """Those scenarios."""


@dataclass(frozen=True, kw_only=True)
class Facts(ReportPart):
    """The target."""

    base_url: str
    model: str
    backend: Backend
    asks_for_key: bool
    """Whether requests carried a key."""
    key_style: KeyStyle
    surfaces: tuple[SurfaceFound, ...]
    client: str = ""
    """The client that is judged, as its command or its journal; "": the target is."""
    ways: tuple[WayRoundTaken, ...] = ()
    """The ways round faults that were taken, so that what is behind the faults is judged."""

    @property
    def name(self) -> str:
        """What reports call that which is judged."""
        return self.client or self.base_url
