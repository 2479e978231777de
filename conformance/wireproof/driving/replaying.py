"""Sends the requests of a saved scenario again, byte for byte, but for their secrets and their nonce."""

from __future__ import annotations

import re
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx

from wireproof.driving.recording import SILENCES, ExchangeLimits, Record
from wireproof.targets.clients import settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof.model.transcript import Transcript

NONCE = re.compile(rb"#[0-9a-f]{12}\]\]")
LONGEST = 6 << 20
"""Bytes that an answer may have: as many as `certify` allows by itself."""
ADDED = frozenset({"host", "content-length", "connection", "transfer-encoding"})
"""Headers that the HTTP client writes by itself."""


async def replay(
    saved: Sequence[Transcript], *, secrets: Mapping[str, str], urls: tuple[str, str], silence: float
) -> list[Transcript]:
    """What comes back now, request by request.

    Args:
        saved: The exchanges, in order. What a later one sends is what it sent then, whatever comes now.
        secrets: What stands for a secret in them → the secret.
        urls: The base URL that they went to, and the one to send them to.
        silence: How long an answer may take, in seconds.
    """
    # Under the same nonce a backend would take them for further turns of the same conversation.
    nonce = f"#{uuid.uuid4().hex[:12]}]]".encode()
    limits = ExchangeLimits(seconds=SILENCES * silence, most_bytes=LONGEST)
    again = []
    async with httpx.AsyncClient(timeout=silence, **settings(urls[1])) as client:
        for one in saved:
            there = one.url.replace(urls[0], urls[1], 1)
            names = {name: value for name, value in one.request_headers if name.lower() not in ADDED}
            headers = {name: _filled(value, secrets) for name, value in names.items()}
            body = NONCE.sub(nonce, one.request_body)
            record = Record(watch=None, silence=silence, limits=limits)
            request = client.build_request(one.method, _filled(there, secrets), headers=headers, content=body)
            await record.fill(client, request)
            again.append(replace(one, url=there, request_body=body, waits=(), death=None, **record.came))
    return again


def _filled(text: str, secrets: Mapping[str, str]) -> str:
    for mask, secret in secrets.items():
        text = text.replace(mask, secret)
    return text
