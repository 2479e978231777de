"""A probe that a launched proxy dies of."""

from __future__ import annotations

import asyncio
import shlex
import sys

import httpx
import pytest

from wireproof.model.target import Target
from wireproof.model.transcript import End
from wireproof.targets.budget import Budget
from wireproof.targets.launch import launch
from wireproof.targets.probe import ProbeAnswer, Prober

PROXY = """
import http.server, os, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()
    def do_POST(self):
        if sys.argv[2] == "dies":
            os.closerange(3, 100)  # as at the end of a process, which a busy machine may let take long
            time.sleep(0.3)
            os._exit(1)
        self.close_connection = True
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


TEXT, MODELS = ("POST", "/chat/completions"), ("GET", "/models")


def probed(base_url: str, *requests: tuple[str, str]) -> list[ProbeAnswer]:
    """The answers to these requests, one after the other."""

    async def send() -> list[ProbeAnswer]:
        async with httpx.AsyncClient(trust_env=False) as client:
            prober = Prober(client=client, target=Target(base_url=base_url, model="m", api_key=None), budget=Budget())
            return [await prober.send(method, path, b"{}") for method, path in requests]

    return asyncio.run(send())


@pytest.mark.parametrize(("does", "starts"), [("dies", 2), ("lives", 1)])
def test_what_comes_after_a_probe_that_a_proxy_dies_of_meets_another_one(does: str, starts: int) -> None:
    with launch(shlex.join([sys.executable, "-c", PROXY, "{port}", does]), env={}) as launched:
        _, broken, models = probed(launched.base_url, MODELS, TEXT, MODELS)
        assert (broken.end, models.status) == (End.CUT, 200)
        assert (launched.starts, launched.death()) == (starts, None)


def test_a_proxy_that_died_of_the_last_probe_runs_when_the_run_begins() -> None:
    with launch(shlex.join([sys.executable, "-c", PROXY, "{port}", "dies"]), env={}) as launched:
        probed(launched.base_url, TEXT)
        assert httpx.get(f"{launched.base_url}/models", trust_env=False).status_code == 200
