from __future__ import annotations

import tomllib

import pytest

from wireproof_proxy.backends.codex.abilities import ARGUMENTS, abilities


def test_the_arguments_are_overrides_that_codex_can_read() -> None:
    assert set(ARGUMENTS[::2]) == {"-c"}
    read = tomllib.loads("\n".join(ARGUMENTS[1::2]))
    assert read["features"]["shell_tool"] is False
    assert read["web_search"] == "disabled"
    assert read["analytics"] == {"enabled": False}


@pytest.mark.parametrize(("version", "config"), [("0.149.0", {}), ("0.150.0", {"agents.enabled": False})])
def test_a_thread_is_given_what_its_version_knows(version: str, config: dict[str, bool]) -> None:
    assert abilities(f"x/{version} (y)", "v2").config == config
