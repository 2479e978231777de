"""Who plays scripts, and what each of them cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from wireproof_scripts.files.definitions import NAMES
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.steps import Call, only_cursor, only_endpoint
from wireproof_scripts.steps.when import ENDPOINTS, When

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wireproof_scripts.steps import Script, Step

Player = Literal["endpoint", "codex", "cursor"]
COMMANDS: Mapping[Player, str] = {
    "endpoint": "wireproof serve",
    "codex": "wireproof-codex",
    "cursor": "wireproof-cursor",
}


def foreign(script: Script, place: str, player: Player | None) -> Iterator[ScriptError]:
    """What of a script this player cannot play; for None, what no player can that plays the rest."""
    players = get_args(Player) if player is None else (player,)
    found = {one: list(_foreign(script, place, one)) for one in players}
    if all(found.values()):
        # Of several players the one that can play the most of it: the rest is what is wrong.
        yield from min(found.values(), key=len)


def _foreign(script: Script, place: str, player: Player) -> Iterator[ScriptError]:
    if player != "endpoint" and isinstance(script.when, When):
        for name in _endpoints(script.when):
            problem = (
                f"{name} is what the endpoint (wireproof serve) alone sees; {COMMANDS[player]} cannot choose by it"
            )
            yield ScriptError(f"{place}.when", problem)
    for at, step in _steps(script, place):
        why = why_not(step, player)
        if why:
            name = NAMES[type(step)]
            yield ScriptError(f"{at}.{name}", f"{COMMANDS[player]} does not play {name}: {why}")
        # Codex asks when the item is complete, never in fragments, and Cursor's service likewise.
        if player != "endpoint" and isinstance(step, Call) and step.unfinished and "native" in step.shapes:
            whole = f"a native call is always complete with {COMMANDS[player]}"
            problem = f"{whole}; the endpoint (wireproof serve) alone cuts it"
            yield ScriptError(f"{at}.call.unfinished", problem)


def why_not(step: Step, player: Player) -> str:
    """Why a player never plays such a step, whatever its fields say; "" if it does."""
    if player == "endpoint":
        return only_cursor(step)
    # What Cursor's service does with the steps of the app-server, `wireproof_cursor.playable` knows.
    return only_endpoint(step) or (only_cursor(step) if player == "codex" else "")


def _endpoints(when: When) -> Iterator[str]:
    yield from (name for name in ENDPOINTS if getattr(when, name) is not None)
    for inner in (*when.all, *when.any, *when.none):
        yield from _endpoints(inner)


def _steps(script: Script, place: str) -> Iterator[tuple[str, Step]]:
    parts = [(f"{place}.parts", script.parts)]
    parts += [(f"{place}.choices[{index}]", choice) for index, choice in enumerate(script.choices)]
    for where, some in parts:
        for index, part in enumerate(some):
            yield from ((f"{where}[{index}][{number}]", step) for number, step in enumerate(part))
