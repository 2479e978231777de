"""The tables of clients have a row for each: of those at the endpoint each has a program, of judged ones rows exist."""

from __future__ import annotations

from wireproof.model.catalogue import load
from wireproof.model.side import Side
from wireproof_pages.client_tables import (
    SERVED,
    WAYS,
    endpoint_clients,
    endpoint_clients_table,
    judged_clients,
    judged_clients_table,
)

SHARED = {"asked.py", "asked.mjs"}
SIXTEEN = 16


def test_each_program_is_a_client_of_the_table_and_each_was_asked() -> None:
    clients = endpoint_clients()
    programs = {path.name for path in (SERVED / "programs").iterdir() if path.suffix in {".py", ".mjs"}}
    assert sorted(one["program"] for one in clients) == sorted(programs - SHARED)
    assert endpoint_clients_table().count("\n") == len(clients) + 1
    # What is not served as it should be stands in the table, and so do the ways that a client has not.
    assert all("error" in one and len(set(WAYS) & one.keys()) > 1 for one in clients)


def test_the_table_has_each_client_once_and_names_rows_that_there_are() -> None:
    clients = judged_clients()
    assert len(clients) >= SIXTEEN
    assert len({(one["name"], one["mode"]) for one in clients}) == len(clients)
    named = {row for one in clients for row in (*one["broken"], *one["unobserved"], *one.get("unsteady", ()))}
    assert named <= load().about(Side.CLIENT).by_id.keys()
    assert judged_clients_table().count("\n") == len(clients) + 1
