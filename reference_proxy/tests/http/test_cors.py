from __future__ import annotations

from wireproof_surfaces.http.cors import Cors


def test_any_origin_is_let_in_by_a_star() -> None:
    assert Cors(("*",)).allow({"origin": "app://obsidian.md"})["Access-Control-Allow-Origin"] == "*"
    assert Cors(("*",)).allow({})["Access-Control-Allow-Origin"] == "*"


def test_a_listed_origin_is_named_back() -> None:
    headers = Cors(("app://obsidian.md", "http://b")).allow({"origin": "http://b"})
    assert headers["Access-Control-Allow-Origin"] == "http://b"
    assert headers["Vary"] == "Origin"


def test_another_origin_gets_nothing_but_the_hint_to_caches() -> None:
    assert Cors(("http://b",)).allow({"origin": "http://c"}) == {"Vary": "Origin"}


def test_a_preflight_allows_post_and_whatever_headers_were_asked_for() -> None:
    headers = Cors(("*",)).preflight({"access-control-request-headers": "x-a, authorization"})
    assert "POST" in headers["Access-Control-Allow-Methods"]
    assert headers["Access-Control-Allow-Headers"] == "x-a, authorization"
    assert "Access-Control-Allow-Private-Network" not in headers


def test_a_page_may_reach_a_proxy_on_its_own_machine() -> None:
    headers = Cors(("*",)).preflight({"access-control-request-private-network": "true"})
    assert headers["Access-Control-Allow-Private-Network"] == "true"


def test_a_page_that_is_not_let_in_does_not_reach_it() -> None:
    asks = {"access-control-request-private-network": "true", "origin": "https://page.example"}
    assert "Access-Control-Allow-Private-Network" not in Cors(("app://obsidian.md",)).preflight(asks)
    assert "Access-Control-Allow-Private-Network" in Cors(("https://page.example",)).preflight(asks)


def test_a_preflight_allows_to_delete_where_that_is_asked() -> None:
    assert Cors(("*",)).preflight({})["Access-Control-Allow-Methods"] == "GET, POST, OPTIONS"
    headers = Cors(("*",)).preflight({"access-control-request-method": "DELETE"})
    assert headers["Access-Control-Allow-Methods"] == "GET, POST, OPTIONS, DELETE"
