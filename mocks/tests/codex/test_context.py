from __future__ import annotations

from wireproof_codex.context import ServerContext, TurnContext
from wireproof_codex.server import AppServer


def test_a_server_is_what_turns_and_methods_need() -> None:
    host: ServerContext = AppServer({})
    names = {
        name for kind in (TurnContext, ServerContext) for name in (*kind.__annotations__, *vars(kind)) if name[0] != "_"
    }
    assert {"version", "notify", "request", "threads", "experimental"} <= names
    assert [name for name in sorted(names) if not hasattr(host, name)] == []
