"""What a surface may be able to do beside plain text, found one by one in what was recorded."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from wireproof.model.dialect import Surface


class Capability(StrEnum):
    """Something that a request may ask for; the value is how reports name it."""

    fields: tuple[str, ...]
    """The fields of a request that ask for it."""
    surfaces: tuple[Surface, ...]
    """The surfaces whose requests have such a field."""

    def __new__(cls, name: str, fields: tuple[str, ...], surfaces: tuple[Surface, ...] = tuple(Surface)) -> Self:
        """A member with this name, these fields and surfaces."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.fields, member.surfaces = fields, surfaces
        return member

    STREAMS = "streams", ("stream",)
    """An answer in frames."""
    # A stream of Responses always has its usage.
    USAGE_IN_STREAMS = "usage in streams", ("stream_options",), (Surface.CHAT,)
    """The counts of tokens at the end of a stream."""
    CALLS = "tool calls", ("tools", "functions")
    """Calls of declared tools."""
    FORCED_TOOL_CHOICE = "forced tool choice", ("tool_choice",)
    """A call that the request insists on."""
    SEVERAL_CHOICES = "several choices", ("n",), (Surface.CHAT,)
    """More than one answer to a request."""
    STRUCTURED_OUTPUT = "structured output", ("response_format", "text.format", "output_config")
    """An answer that is JSON of a schema."""
    # On the other surfaces no scenario asks for it. A gateway whose upstream speaks chat refuses it by its name there.
    STOP_SEQUENCES = "stop sequences", ("stop_sequences", "'stop'"), (Surface.MESSAGES,)
    """A text that ends the answer before itself."""
    # The last two are what a refusal calls the parts of a content, which are no field of their own.
    IMAGES = "images", ("image_url", "input_image", "image", "images")
    """Images beside the text of a user."""
    PREVIOUS_RESPONSE = "previous_response_id", ("previous_response_id",), (Surface.RESPONSES,)
    """A response that continues another one which the server has kept."""


class Use(StrEnum):
    """What a target did with requests that asked for a capability."""

    SERVED = "served"
    REFUSED = "refused"
    """Plainly: with an error that names the field."""
    IGNORED = "ignored"
    """The request was accepted, and the answer shows nothing of it."""
    NOT_SEEN = "not seen"
    """No request asked for it, or no answer shows it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Absence:
    """A capability that a target plainly refuses, and never serves."""

    capability: Capability
    status: int
    """The status of the first refusal."""
    message: str
    """Its message."""
    field: str
    """The field that it names."""
    surfaces: frozenset[Surface]
    """The surfaces on which it is refused."""

    def __str__(self) -> str:
        """How reports write the answer: the status and the message."""
        return f"HTTP {self.status}: {self.message}"
