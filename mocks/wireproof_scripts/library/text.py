"""Scripts that answer with text: every way a model can end without a tool call."""

from __future__ import annotations

from wireproof_scripts.library.written import part
from wireproof_scripts.steps import Cut, Finish, Gate, Hang, Say, Script, Surrogates, Think, Usage

_WANDERING = (
    "The quick brown fox jumps over the lazy d\u00f6g, and then, since nobody calls, it runs all the way home again: ",
    "through the winding paths of the old and deep and silent forest, and past the mill with its three grey stones; ",
    "over the bridge that is older than the town, and up the narrow stairs, where at night the smoke hangs still; ",
    "to the red door, at which it sits down and waits until somebody \u2013 slowly, for it is late \u2013 opens it.\n",
)

TEXT: tuple[Script, ...] = (
    part("text/hello", "A short text in four deltas.", Say(("Hello", ",", " ", "world", "!"))),
    # chat.whole.text: empty stays "".
    part("text/empty", "The model ends without any text."),
    part(
        "text/utf8",
        "Characters of several planes, joined, combining, right-to-left, cut where re-encoding breaks them.",
        Say(
            (
                "Gr\u00fc\u00dfe \u2014 ",
                "\u65e5\u672c\u8a9e ",
                "\U0001f600",
                "\U0001f469",  # joined with the next two: one sign for the eye, three deltas
                "\u200d",
                "\U0001f469\u200d\U0001f467",
                " e",
                "\u0301",  # normalised, it would go into the e before it
                " \u202ertl\u202c ",
                "\u05e9\u05dc\u05d5\u05dd",
                "\u2028",  # Python's `splitlines` ends a line here, SSE does not
                "line\u2029",
                "\U0001d11e",
                "\ufeff",  # a byte order mark is one at the start alone
                "\U0010fffd",
                " \u00a0end",  # trimmed by what takes it for a blank
            ),
        ),
    ),
    # A proxy that drops equal deltas as repetitions loses half of it (chat.stream.text).
    part("text/repeats", "Equal deltas that are repetitions of the model's own.", Say(("ha", "ha", " ", "ha", "ha"))),
    # All that a writer of SSE or JSON must escape (chat.stream.frames).
    part(
        "text/markup",
        "Text that looks like the wire: SSE, JSON, tool tags, backslashes, control characters, entities, fences.",
        Say(
            (
                "data: [DONE]",
                "\n\n",
                'data: {"choices":[{"delta":{"content":"no"}}]}\n\n',
                "event: error\r\n\r\n",
                '{"a": "\\n \\" \\\\"}',
                " </use_tool",
                " <tool_call> C:\\temp\\new\\",
                "\t\x01\x07\x1b[0m\x7f",
                "\r\n: comment\r\n",
                "&amp; &lt; <b>&</b> `code`\n```html\n<i>'\"</i>\n```\n",
            ),
        ),
    ),
    # What may begin a block is held back, and must come at the end.
    part(
        "text/open-end",
        "Text that ends in the first character of a tag.",
        Say(("One says", " that a", " <", " b, or b <")),
    ),
    part("text/long", "640 deltas, more than 64 KiB.", Say(_WANDERING, times=160)),
    part(
        "text/thinking",
        "Reasoning first; none of it belongs to the answer.",
        Think("The user wants a short answer."),
        Say(("Short", " answer.")),
    ),
    part(
        "text/thinking-in-chat",
        "Reasoning before and within the answer, which servers other than OpenAI's show in chat, too.",
        Think("The user wants a short answer.", ("The user wants", " a short answer."), in_chat=True),
        Say(("Short", " enough")),
        Think("One word is missing.", in_chat=True),
        Say((", I", " hope.")),
    ),
    # chat.stream.usage, chat.whole.usage.
    part(
        "text/usage",
        "Token counts that no proxy could estimate.",
        Say(("Counted", ".")),
        Usage(input=1234, cached=1000, output=56, reasoning=7),
    ),
    # chat.stream.finish-reason, chat.whole.finish; so, too, the next one.
    part("text/length", "The model was cut off by its token limit.", Say(("This answer is", " cut")), Finish("length")),
    part(
        "text/filter",
        "The model was stopped by a content filter.",
        Say(("This answer is", " filtered")),
        Finish("content_filter"),
    ),
    # chat.stream.nothing-after-finish: every client that was tried would append it.
    part(
        "text/late",
        "The backend sends more text after the end of the turn.",
        Say(("Done", ".")),
        Finish(),
        Say((" Too", " late.")),
    ),
    # chat.stream.flushed: the gate opens when the client has the first piece, so nothing depends on time.
    part(
        "text/gate",
        "The second piece is not sent before open/gate is played under the same nonce.",
        Say(("first",)),
        Gate(timeout=3.0),
        Say(("second",)),
    ),
    part(
        "turn/beside",
        "Text that goes on after another turn under the same nonce has played open/gate.",
        Say(("Mine begins",)),
        Gate(timeout=3.0),
        Say((" and ends.",)),
    ),
    part(
        "text/silent",
        "Silence until the gate opens, then text.",
        # Longer than the 15 s within which chat.stream.keepalive wants a sign.
        Gate("gate", timeout=60.0),
        Say(("after the silence",)),
    ),
    part(
        "text/silent-long",
        "Silence until the gate opens, which may take longer than a minute, then text.",
        # Five times the 15 s within which chat.stream.keepalive wants a sign, and four times that it may be late.
        Gate("gate", timeout=150.0),
        Say(("after the long silence",)),
    ),
    *(
        # For a proxy whose interval is not known: one that serves a single request at a time does not see the gate
        # opened, and is to be rid of the silence soon.
        part(
            f"text/{name}-brief",
            "Silence until the gate opens, for some seconds at most, then text.",
            Gate("gate", timeout=seconds),
            Say((said,)),
        )
        for name, seconds, said in (
            ("silent", 1.0, "after the silence"),
            ("silent-long", 3.0, "after the long silence"),
        )
    ),
    # For clients that leave (chat.stream.disconnect): only an interrupt ends it.
    part(
        "text/hang",
        "Some text, then nothing until the turn is interrupted.",
        Say(("I have begun", " and", " will", " not", " stop")),
        Hang(),
    ),
    part(
        "text/cut-bytes",
        "The backend's output comes in pieces that cut its characters.",
        # 1, 1, 1: within a character of three or four bytes (chat.stream.utf8).
        Cut((40, 1, 1, 1, 2, 3)),
        Say(("\U0001f600" * 16, "\u65e5\u672c\u8a9e" * 8, " \u00e9nd")),
    ),
    # chat.stream.utf8: a delta must not end between two halves, so a proxy holds the first one back.
    part(
        "text/surrogates",
        "Characters beyond the BMP as two escaped halves, in one delta and in two.",
        Say(("Halves: ",)),
        Surrogates("\U0001f600 \u00e9 \U0001d11e"),
        Surrogates("\U0001f469\u200d\U0001f467", apart=True),
        Say((" end",)),
    ),
)
