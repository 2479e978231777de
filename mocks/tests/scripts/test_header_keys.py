"""Keys are masked in whatever header carries them."""

from __future__ import annotations

import pytest

from wireproof_scripts.asked.header_keys import MASK, holds_key, keys_in, mask_of, masked_header

KEY = "0123456789abcdef"


@pytest.mark.each(
    "name",
    [
        "authorization",
        "proxy-authorization",
        "api-key",
        "x-api-key",
        "x-goog-api-key",
        "x-auth-token",
        "ocp-apim-subscription-key",
        "x-amz-security-token",
        "cookie",
        "helicone-auth",
        "cf-access-client-secret",
        "x-portkey-virtual-key",
        "x-my-password",
    ],
)
def test_a_header_that_is_named_as_one_holds_a_key(name: str) -> None:
    assert holds_key(name)
    assert masked_header(name, KEY) == MASK
    assert keys_in({name: f"Bearer {KEY}"}) >= {KEY}


@pytest.mark.each("name", ["idempotency-key", "x-ratelimit-limit-tokens", "content-type", "openai-organization"])
def test_other_headers_stay_as_they_are(name: str) -> None:
    assert masked_header(name, "0123456789") == "0123456789"
    assert keys_in({name: KEY}) == set()


@pytest.mark.each(
    "value",
    [
        f"Bearer {KEY}",
        f"basic {KEY}",
        "sk-proj-abcdefgh12345678",
        "AIzaSyA0123456789abcdef",
        "ghp_0123456789abcdef0123",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
    ],
)
def test_a_key_is_known_by_its_form_in_any_header(value: str) -> None:
    assert masked_header("x-passed-on", value) == MASK
    assert keys_in({"x-passed-on": value})


def test_what_stands_around_a_key_stays() -> None:
    assert masked_header("x-passed-on", "by sk-abcdefgh12345678, now") == f"by {MASK}, now"


def test_values_of_cookies_are_looked_for_by_themselves() -> None:
    assert keys_in({"cookie": f"theme=dark; session={KEY}"}) >= {KEY}


def test_of_two_keys_the_longer_is_masked_first() -> None:
    assert mask_of({"abcdefghijkl", "abcdefghijklmnop"})("abcdefghijklmnop") == MASK
