"""The table of judged clients: its rows exist, and each client is there once."""

from __future__ import annotations

from wireproof.model.catalogue import load
from wireproof.model.side import Side
from wireproof_pages.judged_clients import judged_clients, judged_clients_table

SIXTEEN = 16


def test_the_table_has_each_client_once_and_names_rows_that_there_are() -> None:
    clients = judged_clients()
    assert len(clients) >= SIXTEEN
    assert len({(one["name"], one["mode"]) for one in clients}) == len(clients)
    named = {row for one in clients for row in (*one["broken"], *one["unobserved"], *one.get("unsteady", ()))}
    assert named <= load().about(Side.CLIENT).by_id.keys()
    assert judged_clients_table().count("\n") == len(clients) + 1
