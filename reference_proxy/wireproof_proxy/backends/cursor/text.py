"""Text as protocol buffers take it: in UTF-8, which has no halves of characters. Pure."""

from __future__ import annotations


def in_utf8(text: str) -> str:
    """The text with pairs of surrogates joined and lone ones replaced; any other text unchanged."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
