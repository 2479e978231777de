"""What an endpoint with a small model was asked, and what it answered: recorded, for mutants to be made of."""

from __future__ import annotations

from live_endpoint import KEY, MODEL, serving
from live_goods import OPENAI

from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.target import Backend, Target
from wireproof.results.archive import save
from wireproof.results.certify import certify
from wireproof.scenarios.live import LIVE
from wireproof_fuzz.mutants import OF_A_MODEL


def record() -> None:
    """Drive an endpoint without a defect, with every optional field that OpenAI sends, and keep the answers."""
    with serving(OPENAI) as server:
        target = Target(
            base_url=server.url(OPENAI.name), model=MODEL, api_key=KEY, backend=Backend.LIVE,
            dialects=(Dialect.OPENAI_JSON, Dialect.RESPONSES),
        )  # fmt: skip
        certificate = certify(target, LIVE, load())
    save(OF_A_MODEL, certificate.target, certificate.runs)
