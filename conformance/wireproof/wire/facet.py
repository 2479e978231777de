"""The parts of an exchange, by which faults and requirements find out about each other.

A violation spoils some of them: they cannot be read behind it, or what is read there follows from it. A row needs some
to be judged. So what a fault hides is the rows that need what it spoils, and nothing else: see `judging.spoiling`.

Of some, one row speaks in the answers of a surface and mode: what is wrong with such a part breaks that row (`facets`
of a row).
"""

from __future__ import annotations

from enum import StrEnum


class Facet(StrEnum):
    """A part of an exchange, or something that is known of it."""

    # The first seven are the kinds of lines in stored answers.
    EVENTS = "events"
    """The order of events."""
    TEXT = "text"
    CALL = "call"
    """That a call comes as such, with its name."""
    ARGUMENTS = "arguments"
    FINISH = "finish"
    USAGE = "usage"
    ERROR = "error"
    """An error within an answer."""
    STATUS = "status"
    """The HTTP status of a failure before any output."""
    BODY = "body"
    """That the body is of the kind that was asked for."""
    ENCODING = "encoding"
    """The characters of a text: UTF-8, as the model wrote them."""
    EVERY_CALL = "every-call"
    """That no call is missing."""
    ID = "id"
    """What names an answer."""
    CALL_ID = "call-id"
    """What names a call."""
    CREATED = "created"
    """The time of an answer."""
    OWNER = "owner"
    """That an answer is the one to its own request."""
    ANSWER = "answer"
    """That there is an answer at all."""
    PROCESS = "process"
    """That the program runs, and takes connections."""
    ROOM = "room"
    """How many requests are served at the same time."""
    END = "end"
    """That what came is all of the answer: without it, what came is its beginning."""
    SETTINGS = "settings"
    """What an answer repeats of its request."""
    RECEIVED = "received"
    """What the backend reports that it received, as the text of the answer."""
    HISTORY = "history"
    """What the client sends back of earlier answers of its conversation."""


CONTENT = frozenset({Facet.TEXT, Facet.CALL, Facet.ARGUMENTS, Facet.FINISH})
"""What an answer says."""
UNREADABLE = CONTENT | {Facet.CALL_ID, Facet.USAGE, Facet.END}
"""What nothing is known of where an answer cannot be read."""
UNTOUCHED: frozenset[Facet] = frozenset()
"""What is spoilt by a fault behind which all can be read."""
