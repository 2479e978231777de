"""Where in its script a turn is: which part the model's next answer plays, and what the script can see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_codex.turns.response import Response
from wireproof_scripts.asked.templates import filled
from wireproof_scripts.default.answer import default_answer
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.player import perform
from wireproof_scripts.selection import Selection, for_app_server, select

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof_codex.context import ServerContext
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.threads.thread import Thread
    from wireproof_scripts.nonces import State
    from wireproof_scripts.steps import Library, Reflect


def choose(
    library: Library, context: ServerContext, thread: Thread, given: Sequence[Json], schema: Json | None = None
) -> Selection:
    """What the model is to answer to this input."""
    return for_app_server(
        select(
            library,
            context.nonces,
            history=thread.history,
            given=given,
            tools=thread.functions,
            call_id=f"call_{context.ids.number():04}",
            developer=thread.developer or "",
            schema=schema,
        )
    )


class ScriptPosition:
    """The place of a turn in the script of `casting`: the stage on which its parts are played."""

    def __init__(
        self,
        context: ServerContext,
        thread: Thread,
        casting: Selection,
        given: Sequence[Mapping[str, Any]],
        schema: object = None,
    ) -> None:
        self.casting = casting
        self._schema = schema
        self.nonce = casting.nonce
        """The nonce of the turn's first input; more input under another nonce does not change it."""
        self.given = list(given)
        """The input of the turn so far."""
        self._context = context
        self._thread = thread
        # Copied: `reflect` answers with the history before the turn, not with what it has added since.
        self._history = list(thread.history)
        self.record = casting.begin()
        """The turn as scripts under its nonce can see it."""
        self._index = casting.first

    def response(self) -> Response:
        """The answer that the model begins now."""
        return self.play(self.casting, self._index)

    def play(self, casting: Selection, index: int) -> Response:
        """The answer that is the part at this index; after the last part, one that says what the tools returned."""
        if index < len(casting.parts):
            part = filled(casting.parts[index], self._thread.history)
        else:
            # The default answer calls a declared tool where the text asks for that.
            call_id = f"call_{self._context.ids.number():04}"
            # A script of one call ends a client's loop by this: after the result comes text.
            part = default_answer(
                self._thread.history,
                self._thread.functions,
                call_id,
                developer=self._thread.developer or "",
                schema=self._schema if isinstance(self._schema, dict) else None,
            )
        return Response(part, perform(part, self.nonce, self.record, self._context.now))

    def advance(self) -> None:
        """Go to the next part."""
        self._index += 1

    def move(self, casting: Selection) -> None:
        """Go to where another choice of script begins."""
        self.casting, self._index = casting, casting.first

    def choose_again(self) -> None:
        """Choose by the history as it is now; the rest counts as a turn of its own under the nonce of that choice.

        After a compaction the marker of the first input may be gone. Scripts that cannot be read change nothing.
        """
        library, casting = self._context.library, self.casting
        # The file is read again when it changes, so it may be broken in the middle of a turn.
        if not isinstance(library, ScriptError):
            # The input is in the history already, as far as the summary has kept it.
            casting = choose(library, self._context, self._thread, [])
        # Before the next begins: two running turns would block a script that waits for the others.
        self.record.state = "completed"
        self.record = casting.begin()
        self.move(casting)

    def end(self, state: State) -> None:
        """Note how the turn ended, for scripts that reflect it."""
        self.record.state = state

    # What the script can see

    def reflection(self, step: Reflect) -> Json:
        """What the script wants to see: the other turns under its nonce, what is played, or what the turn received."""
        if step.what == "turns":
            others = self.nonce.others(self.record)
            return {"turns": [{"script": it.script, "part": it.part, "state": it.state} for it in others]}
        if step.what == "backend":
            protocol = "v1" if self._thread.conversation else "v2"
            return {"codex": self._context.version.number, "protocol": protocol, "nonce": self.nonce.name}
        return {
            "developer": self._thread.developer,
            "base": self._thread.base,
            "model": self._thread.settings.asked_model,
            "history": self._history,
            "input": self.given,
            "tools": self._thread.tools,
            "schema": self._schema,
        }
