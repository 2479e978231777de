"""Signatures of thoughts: opaque to a client, which sends them back as they came. Pure.

Only what was signed here can be checked. Any other signature is taken: gateways give none, or another's.
"""

from __future__ import annotations

import base64
import hmac
from hashlib import sha256

_MARK = b"wireproof"
_KEY = b"thoughts of scripts are no secret"
"""No secret: the signature shows a client's mistake, and keeps nobody from making one up."""
_SIZE = 16


def signature(thought: str) -> str:
    """The signature of a thought."""
    digest = _digest(thought)
    return base64.b64encode(_MARK + digest + _seal(digest)).decode()


def fits(thought: str, given: str) -> bool:
    """Whether the signature is this thought's, or none of ours; a thought that was not shown comes back empty."""
    begin = base64.b64encode(_MARK).decode()  # nine bytes: no character of it depends on what follows
    if not given.startswith(begin):
        return True
    try:
        rest = base64.b64decode(given, validate=True)[len(_MARK) :]
    except ValueError:
        return False
    digest, seal = rest[:_SIZE], rest[_SIZE:]
    return hmac.compare_digest(seal, _seal(digest)) and (not thought or digest == _digest(thought))


def _digest(thought: str) -> bytes:
    return sha256(thought.encode(errors="replace")).digest()[:_SIZE]


def _seal(digest: bytes) -> bytes:
    return hmac.new(_KEY, digest, sha256).digest()[:_SIZE]
