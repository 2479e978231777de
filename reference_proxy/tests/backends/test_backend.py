from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_proxy.backends.backend import AgentBackend, BackendTurn, FailedTurn
from wireproof_proxy.backends.codex.supervisor import Supervisor
from wireproof_surfaces.conversation import Conversation
from wireproof_surfaces.events import FailureReason

if TYPE_CHECKING:
    from reference_proxy.tests.conftest import ScriptedBackend


def test_the_codex_backend_is_what_the_proxy_asks_for() -> None:
    supervisor = Supervisor(["codex"], {}, restart_limit=0)
    assert isinstance(supervisor, AgentBackend)
    assert isinstance(supervisor.open(Conversation()), BackendTurn)
    assert isinstance(FailedTurn(FailureReason.UNAVAILABLE), BackendTurn)


def test_so_is_the_one_that_tests_put_in_its_place(backend: ScriptedBackend) -> None:
    assert isinstance(backend, AgentBackend)
    assert isinstance(backend.open(Conversation()), BackendTurn)
