"""Faults of several choices, and of the choice of the output mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_mocks.miniatures.chunks import choice_of, each
from wireproof_mocks.miniatures.fault import MODE_HEADER, OPENAI_JSON, Fault
from wireproof_mocks.miniatures.heads import forgetting
from wireproof_mocks.miniatures.rewriting import at, in_body

if TYPE_CHECKING:
    from wireproof_mocks.miniatures.fault import Environ

_VARIABLE = "HTTP_" + MODE_HEADER.upper().replace("-", "_")
_MODES = ("openai-json", "obsidian-xml")


def _other_default(environ: Environ) -> None:
    # As if the request named the mode: the proxy's default itself is not touched.
    environ.setdefault(_VARIABLE, OPENAI_JSON)


def _unknown_forgiven(environ: Environ) -> None:
    if environ.get(_VARIABLE, OPENAI_JSON) not in _MODES:
        del environ[_VARIABLE]  # without a mode, the default counts


CHOICE_FAULTS: tuple[Fault, ...] = (
    # Both ways, so that each choice still has one role and one finish: it is the content that is wrong.
    Fault(
        name="choices-swapped",
        breaks="chat.stream.isolation",
        frames=each(at("choices[].index", lambda index: 1 - index)),
        scripts=("choices/text",),
    ),
    Fault(
        name="stream-has-one-choice-of-two",
        breaks="chat.stream.isolation",
        frames=each(lambda chunk: () if choice_of(chunk).get("index") else chunk),
        scripts=("choices/text", "choices/indexed", "choices/mixed", "choices/usage"),
    ),
    Fault(
        name="whole-one-choice-of-two",
        breaks="chat.whole.choices",
        whole=in_body(at("choices", lambda choices: choices[:1])),
    ),
    Fault(name="mode-set-up-ignored", breaks="mode.default", environ=_other_default),
    Fault(name="mode-not-echoed", breaks="mode.header", head=forgetting(MODE_HEADER)),
    Fault(name="unknown-mode-forgiven", breaks="mode.invalid", environ=_unknown_forgiven),
)
"""Each is the reference proxy with one thing wrong in its choices or modes."""
