"""Sends the requests of a saved scenario again, byte for byte, but for their secrets and their nonce."""

from __future__ import annotations

import re
import time
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
    async with httpx.AsyncClient(timeout=silence, **settings(urls[1])) as client:
        return [await _again(client, one, secrets, urls, nonce=nonce, silence=silence) for one in saved]


async def _again(
    client: httpx.AsyncClient,
    saved: Transcript,
    secrets: Mapping[str, str],
    urls: tuple[str, str],
    *,
    nonce: bytes,
    silence: float,
) -> Transcript:
    headers = {name: _filled(value, secrets) for name, value in saved.request_headers if name.lower() not in ADDED}
    body = NONCE.sub(nonce, saved.request_body)
    url = _filled(saved.url.replace(urls[0], urls[1], 1), secrets)
    limits = ExchangeLimits(seconds=SILENCES * silence, most_bytes=LONGEST)
    record = Record(watch=None, silence=silence, limits=limits)
    began = time.monotonic()
    await record.fill(client, client.build_request(saved.method, url, headers=headers, content=body))
    return replace(
        saved,
        url=saved.url.replace(urls[0], urls[1], 1),
        request_body=body,
        status=record.status,
        headers=record.headers,
        pieces=tuple(record.pieces),
        end=record.end,
        over=record.over,
        seconds=time.monotonic() - began,
        waits=(),
        death=None,
    )


def _filled(text: str, secrets: Mapping[str, str]) -> str:
    for mask, secret in secrets.items():
        text = text.replace(mask, secret)
    return text
