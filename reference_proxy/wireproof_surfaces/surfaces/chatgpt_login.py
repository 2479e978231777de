"""Logins of the ChatGPT service: the tokens that its token endpoint gives for a refresh token. Pure.

An access token is a JWT whose claims gateways read without checking its signature: the account and the plan under
`https://api.openai.com/auth`, and when it expires. Here the signature is none that anybody made. The claims are those
that Codex and gateways are seen to read in their public sources (0.125.0 and 0.169.0 of Codex sent the account that
stood there as `chatgpt-account-id`); the request is the one that they sent to `CODEX_REFRESH_TOKEN_URL_OVERRIDE`.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

PATH = "/oauth/token"
ACCOUNT = "5f1f7b1e-0c0d-4e57-9a43-77697265706f"
"""The id of the only account."""
LIFETIME = 10 * 24 * 3600
"""Seconds for which an access token is good."""
PLAN = "plus"
_EMAIL = "wireproof@example.com"
_USER = "user-wireproof"
_ISSUER = "https://auth.openai.com"


def refusal(asked: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What the token endpoint says of a request that it does not take; None for one that it takes."""
    if asked.get("grant_type") != "refresh_token":
        return _error("unsupported_grant_type", "Only grant_type=refresh_token is served here.")
    if not asked.get("refresh_token"):
        return _error("invalid_request", "Missing required parameter: refresh_token")
    return None


def _error(code: str, message: str) -> Mapping[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}


def tokens(now: float, number: int) -> dict[str, Any]:
    """The answer to a refresh at `now` (epoch seconds); by `number` the tokens of two refreshes differ."""
    return {
        "id_token": _jwt(_claims(now, number)),
        "access_token": _jwt({**_claims(now, number), "scp": ["openid", "profile", "email", "offline_access"]}),
        "refresh_token": f"rt_wireproof_{number}",
        "token_type": "bearer",
        "expires_in": LIFETIME,
        "scope": "openid profile email offline_access",
    }


def _claims(now: float, number: int) -> dict[str, Any]:
    account = {
        "chatgpt_account_id": ACCOUNT,
        "chatgpt_plan_type": PLAN,
        "chatgpt_user_id": _USER,
        "user_id": _USER,
    }
    return {
        "iss": _ISSUER,
        "sub": _USER,
        "aud": ["https://api.openai.com/v1"],
        "iat": int(now),
        "exp": int(now) + LIFETIME,
        "jti": f"wireproof-{number}",
        "email": _EMAIL,
        "email_verified": True,
        "https://api.openai.com/profile": {"email": _EMAIL, "email_verified": True},
        "https://api.openai.com/auth": account,
    }


def _jwt(claims: Mapping[str, Any]) -> str:
    header = {"alg": "RS256", "typ": "JWT", "kid": "wireproof"}
    return ".".join((_part(json.dumps(header).encode()), _part(json.dumps(claims).encode()), _part(b"no signature")))


def _part(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
