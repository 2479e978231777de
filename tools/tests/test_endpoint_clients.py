"""The table of clients at the endpoint has a row for each, and for each a program."""

from __future__ import annotations

from wireproof_pages.endpoint_clients import FOLDER, WAYS, endpoint_clients, endpoint_clients_table

SHARED = {"asked.py", "asked.mjs"}


def test_each_program_is_a_client_of_the_table_and_each_was_asked() -> None:
    clients = endpoint_clients()
    programs = {path.name for path in (FOLDER / "programs").iterdir() if path.suffix in {".py", ".mjs"}}
    assert sorted(one["program"] for one in clients) == sorted(programs - SHARED)
    assert endpoint_clients_table().count("\n") == len(clients) + 1
    # What is not served as it should be stands in the table, and so do the ways that a client has not.
    assert all("error" in one and len(set(WAYS) & one.keys()) > 1 for one in clients)
