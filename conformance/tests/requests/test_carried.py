from __future__ import annotations

from typing import Any

import pytest

from wireproof.model.scenario import Auth
from wireproof.model.target import KeyStyle, Target
from wireproof.requests.carried import address, carried_headers, masked_url

URL = "http://proxy/v1/models"


def target(**changes: Any) -> Target:
    return Target(**{"base_url": "http://proxy/v1", "model": "codex", **changes})


@pytest.mark.parametrize(
    ("style", "auth", "headers", "query"),
    [
        (KeyStyle.BEARER, Auth.RIGHT, {"authorization": "Bearer key"}, ""),
        (KeyStyle.API_KEY, Auth.RIGHT, {"api-key": "key"}, ""),
        (KeyStyle.X_API_KEY, Auth.RIGHT, {"x-api-key": "key"}, ""),
        (KeyStyle.X_API_KEY, Auth.NONE, {}, ""),
        (KeyStyle.X_API_KEY, Auth.WRONG, {"x-api-key": "wq7Zr2Xk9Tb4Lm8Vd3Ph"}, ""),
        (KeyStyle.X_API_KEY, Auth.CUT, {"x-api-key": "ke"}, ""),
        (KeyStyle.X_API_KEY, Auth.EXTENDED, {"x-api-key": "keyx"}, ""),
        (KeyStyle.QUERY, Auth.RIGHT, {}, "?key=key"),
        (KeyStyle.QUERY, Auth.NONE, {}, ""),
        (KeyStyle.QUERY, Auth.CUT, {}, "?key=ke"),
    ],
)
def test_the_key_is_carried_in_the_style_of_the_target(
    style: KeyStyle, auth: Auth, headers: dict[str, str], query: str
) -> None:
    one = target(api_key="key", key_style=style)
    assert (carried_headers(one, auth), address(URL, one, auth)) == (headers, URL + query)


@pytest.mark.parametrize("style", KeyStyle)
def test_without_a_key_nothing_is_carried(style: KeyStyle) -> None:
    one = target(key_style=style)
    assert (carried_headers(one), address(URL, one)) == ({}, URL)


def test_a_header_of_the_persons_own_gives_way_to_the_key_and_to_its_absence() -> None:
    own = (("Authorization", "Basic own"), ("X-Team", "blue"))
    assert carried_headers(target(headers=own)) == {"authorization": "Basic own", "x-team": "blue"}
    assert carried_headers(target(headers=own, api_key="k")) == {"x-team": "blue", "authorization": "Bearer k"}
    assert carried_headers(target(headers=own, api_key="k"), Auth.NONE) == {"x-team": "blue"}


def test_parameters_are_added_behind_those_of_the_request() -> None:
    one = target(api_key="a&b", key_style=KeyStyle.QUERY, query=(("v", "1 2"),))
    assert address(f"{URL}?limit=%31", one) == f"{URL}?limit=%31&v=1%202&key=a%26b"


def test_what_may_be_secret_is_masked() -> None:
    one = target(
        api_key="s3cr3t", key_style=KeyStyle.QUERY, headers=(("X-Team", "s3cr3t"),), query=(("sig", "s3cr3t"),)
    )
    assert masked_url(address(f"{URL}?limit=1", one), one) == f"{URL}?limit=1&sig=***&key=***"
    assert masked_url(f"{URL}?limit=1", target()) == f"{URL}?limit=1"
