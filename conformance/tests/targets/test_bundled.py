from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from wireproof.model.target import Backend
from wireproof.model.verdict import HarnessError
from wireproof.targets import bundled
from wireproof.targets.bundled import KEEPALIVE, proxy
from wireproof.targets.launch import executable

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.sampled(2)


def test_the_bundled_proxy_is_a_target_like_any_other() -> None:
    with proxy(timeout=4.0) as target:
        assert (target.backend, target.model, target.timeout) == (Backend.MOCK, "codex", 4.0)
        assert target.keepalive == KEEPALIVE
        with httpx.Client(trust_env=False) as client:
            assert client.get(target.url("/models")).status_code == 401
            headers = {"authorization": f"Bearer {target.api_key}"}
            answer = client.get(target.url("/models"), headers=headers)
        assert answer.status_code == 200
        assert answer.headers["x-request-id"]
    with pytest.raises(httpx.ConnectError):
        httpx.get(target.url("/models"), trust_env=False)


def test_settings_of_a_persons_shell_are_not_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXY_OUTPUT_MODE", "nonsense")  # with it the proxy would not start
    with proxy() as target:
        assert (target.model, target.unready_url is not None) == ("codex", True)


@pytest.mark.nightly
def test_its_key_is_another_one_each_time() -> None:
    with proxy() as one, proxy() as other:
        assert one.api_key != other.api_key


def test_one_that_does_not_start_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nsleep 100\n")
    slow.chmod(0o700)
    monkeypatch.setattr(bundled, "executable", lambda _: str(slow))
    with pytest.raises(HarnessError, match="did not answer at"), proxy(start_timeout=0.3):
        pass


def test_the_folder_that_it_is_installed_in_may_have_any_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "Ann's caf\u00e9 $HOME"
    folder.mkdir()
    for name in ("wireproof-proxy", "wireproof-codex"):
        (folder / name).symlink_to(executable(name))
    monkeypatch.setattr(bundled, "executable", lambda name: str(folder / name))
    with proxy() as target:
        assert target.model == "codex"
