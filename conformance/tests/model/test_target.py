from __future__ import annotations

import pytest

from wireproof.model.target import Backend, Target


@pytest.mark.parametrize("base", ["http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1/"])
def test_a_path_is_below_the_base_url_however_that_ends(base: str) -> None:
    assert Target(base_url=base, model="m").url("/models") == "http://127.0.0.1:1/v1/models"


@pytest.mark.parametrize("base", ["http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1/"])
def test_an_address_is_reported_as_its_path_below_the_base_url(base: str) -> None:
    target = Target(base_url=base, model="m")
    assert target.path_of(target.url("/models/m")) == "/models/m"


def test_an_address_of_a_spare_instance_has_its_like_at_the_first() -> None:
    spares = ("http://127.0.0.1:2/v1", "http://127.0.0.1:3/v1")
    target = Target(base_url="http://127.0.0.1:1/v1", model="m", spare_urls=spares)
    for spare in spares:
        assert target.at_first(f"{spare}/models") == target.url("/models")
        assert target.path_of(f"{spare}/models") == "/models"
    for url in (target.url("/models"), "http://127.0.0.1:4/v1/models"):
        assert target.at_first(url) == url


def test_a_target_is_taken_for_the_mock_until_its_backend_is_found_out() -> None:
    assert Target(base_url="http://127.0.0.1:1/v1", model="m").backend is Backend.MOCK
