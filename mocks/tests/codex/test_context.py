from __future__ import annotations

from assay_codex.context import Desk, Host
from assay_codex.server import Server


def test_a_server_is_what_turns_and_methods_need() -> None:
    host: Host = Server({})
    names = {name for kind in (Desk, Host) for name in (*kind.__annotations__, *vars(kind)) if name[0] != "_"}
    assert {"version", "tell", "ask", "threads", "experimental"} <= names
    assert [name for name in sorted(names) if not hasattr(host, name)] == []
