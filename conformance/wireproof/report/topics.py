"""The topics of the catalogue: what the tables and the pages of requirements are ordered by."""

from __future__ import annotations

from wireproof.model.dialect import Surface


def topic_of(requirement: str) -> str:
    """The first word of an id, and for those about answers the second, too: whether they are streams or whole."""
    first, second, *_ = requirement.split(".")
    return f"{first}.{second}" if first in set(Surface) and second in {"stream", "whole"} else first


def page_of(requirement: str) -> str:
    """The place of a requirement in the documentation, from the folder `docs` on."""
    return f"catalogue/{topic_of(requirement).replace('.', '-')}.md#{requirement}"
