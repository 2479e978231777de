"""A login of ChatGPT for a gateway that has one: an auth file in a scratch home, with tokens of our own upstream.

Gateways read the file that `codex login` writes (`auth.json`), look at the claims of the tokens in it, and send the
access token and the account to the service behind the login, which the upstream plays. The home has the file twice, as
CODEX_HOME and as a home with `.codex`; tokens come from the upstream's token endpoint, which refreshes them, too.
"""

from __future__ import annotations

import base64
import json
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from wireproof.model.verdict import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SECONDS = 10.0
"""How long the upstream may take to give tokens."""
CLAIMS = "https://api.openai.com/auth"
"""The claim that names the account."""


@dataclass(frozen=True, kw_only=True)
class ScratchLogin:
    """A login that is thrown away with its folder."""

    home: Path
    tokens: Mapping[str, str]
    account: str
    host: str
    """Host and port of the service behind it."""

    def placeholders(self) -> dict[str, str]:
        """What stands for it in commands, variables and configurations → what is filled in."""
        return {
            "{login_home}": str(self.home),
            "{login_token}": self.tokens["access_token"],
            "{login_account}": self.account,
            "{login_url}": f"http://{self.host}/backend-api/codex",
            "{login_refresh_url}": f"http://{self.host}/oauth/token",
        }

    def variables(self) -> dict[str, str]:
        """The variables by which Codex and gateways find the file and refresh its tokens."""
        return {
            "CODEX_HOME": str(self.home),
            "CHATGPT_LOCAL_HOME": str(self.home),
            "CODEX_REFRESH_TOKEN_URL_OVERRIDE": f"http://{self.host}/oauth/token",
        }


@contextmanager
def scratch_login(host: str) -> Iterator[ScratchLogin]:
    """A login at the upstream on `host` (host and port), for the length of a `with` block.

    Raises:
        HarnessError: the upstream gives no tokens.
    """
    tokens = _tokens(host)
    account = str(_claims(tokens["access_token"])[CLAIMS]["chatgpt_account_id"])
    with tempfile.TemporaryDirectory(prefix="wireproof-login-") as folder:
        home = Path(folder)
        text = json.dumps(_auth_file(tokens, account, datetime.now(UTC)), indent=2)
        for file in (home / "auth.json", home / ".codex" / "auth.json"):
            file.parent.mkdir(exist_ok=True)
            file.touch(mode=0o600)
            file.write_text(text, encoding="utf-8")
        yield ScratchLogin(home=home, tokens=tokens, account=account, host=host)


def _tokens(host: str) -> dict[str, str]:
    asked = {"grant_type": "refresh_token", "refresh_token": "wireproof"}
    try:
        answer = httpx.post(f"http://{host}/oauth/token", json=asked, trust_env=False, timeout=SECONDS)
        given: dict[str, str] = answer.raise_for_status().json()
    except (httpx.HTTPError, ValueError) as error:
        raise HarnessError(f"the upstream at {host} gives no tokens of a login: {error}") from error
    return given


def _claims(token: str) -> dict[str, Any]:
    payload = token.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims


def _auth_file(tokens: Mapping[str, str], account: str, now: datetime) -> dict[str, Any]:
    """The file as `codex login status` of 0.125.0 and 0.169.0 reads it, and, beside that, as LiteLLM 1.106 keeps it."""
    kept = {name: tokens[name] for name in ("id_token", "access_token", "refresh_token")} | {"account_id": account}
    return {
        "auth_mode": "chatgpt",
        "OPENAI_API_KEY": None,
        "tokens": kept,
        "last_refresh": now.isoformat(timespec="seconds").replace("+00:00", "Z"),
        **kept,
        "expires_at": _claims(tokens["access_token"])["exp"],
    }
