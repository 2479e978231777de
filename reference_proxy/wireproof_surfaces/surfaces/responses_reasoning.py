"""The output item of a thought, and the events about its texts. Pure.

    summary   reasoning_summary_part.added → reasoning_summary_text.delta* → reasoning_summary_text.done
              → reasoning_summary_part.done
    itself    content_part.added → reasoning_text.delta* → reasoning_text.done → content_part.done

A thought is whole when it comes, so its item is done as soon as it is added. OpenAI's models show a summary at most;
the reasoning itself is what open models send, in events that OpenAI has published for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wireproof_surfaces.events import Thought
    from wireproof_surfaces.surfaces.json_text import Json


@dataclass(frozen=True, slots=True)
class _Text:
    """How a text of a thought is named on the wire."""

    part: str
    """The type of the part that holds it."""
    events: str
    """What the types of its own events begin with."""
    part_events: str
    """What the types of the events of its part begin with."""
    index: str
    """The member that numbers its part."""


_SUMMARY = _Text("summary_text", "reasoning_summary_text", "reasoning_summary_part", "summary_index")
_ITSELF = _Text("reasoning_text", "reasoning_text", "content_part", "content_index")


@dataclass
class Reasoning:
    """The item with this id and `output_index`."""

    id: str
    index: int
    thought: Thought

    def item(self, status: str) -> Json:
        """The item: its texts once it is not in progress. It does not say its status, as OpenAI's do not."""
        item: Json = {"type": "reasoning", "id": self.id, "summary": []}
        if status == "in_progress":
            return item
        item["summary"] = _parts(_SUMMARY, self.thought.summary)
        if any(self.thought.raw):
            item["content"] = _parts(_ITSELF, self.thought.raw)
        return {**item, "encrypted_content": self.thought.encrypted} if self.thought.encrypted else item

    def opened(self) -> Iterator[Json]:
        """The events between the item as added and as done."""
        yield from self._events(_SUMMARY, self.thought.summary)
        yield from self._events(_ITSELF, self.thought.raw)

    def closed(self) -> Iterator[Json]:
        """Nothing: its texts are complete already."""
        yield from ()

    def _events(self, named: _Text, pieces: Sequence[str]) -> Iterator[Json]:
        place = {"item_id": self.id, "output_index": self.index, named.index: 0}
        for part in _parts(named, pieces):
            yield {"type": f"response.{named.part_events}.added", **place, "part": {**part, "text": ""}}
            for piece in filter(None, pieces):
                yield {"type": f"response.{named.events}.delta", **place, "delta": piece}
            yield {"type": f"response.{named.events}.done", **place, "text": part["text"]}
            yield {"type": f"response.{named.part_events}.done", **place, "part": part}


def _parts(named: _Text, pieces: Sequence[str]) -> list[Json]:
    """The part that holds all pieces; none where there is no text."""
    text = "".join(pieces)
    return [{"type": named.part, "text": text}] if text else []
