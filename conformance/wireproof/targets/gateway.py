"""Gateways: proxies whose backend is an OpenAI-compatible upstream, here the endpoint that `wireproof serve` serves.

Wireproof starts that upstream, then the gateway, whose command, variables and configuration say where the upstream is.
What the gateway sends reaches the scripted mock by way of the upstream, so the scripts play, and those that reflect
what was received show what the gateway made of a request.

A gateway that calls its upstream with a login of ChatGPT gets an auth file in a scratch home, with tokens of that
upstream. Gateways read the file that `codex login` writes (`auth.json`), look at the claims of the tokens in it, and
send the access token and the account to the service behind the login, which the upstream plays. The home has the file
twice, as CODEX_HOME and as a home with `.codex`; tokens come from the upstream's token endpoint, which refreshes them,
too.
"""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from wireproof.model.dialect import Surface
from wireproof.model.scenario import Auth
from wireproof.model.served import SERVED_KEY, UNKNOWN_MODEL
from wireproof.model.verdict import HarnessError
from wireproof.requests.carried import address, carried_headers
from wireproof.targets.budget import Budget, SpentError
from wireproof.targets.clients import settings
from wireproof.targets.kinds import OptionError
from wireproof.targets.launch import LOCAL, Launched, launch, words_of
from wireproof.targets.ports import free_port, is_free
from wireproof_scripts.files.regular import content_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wireproof.model.target import Target
    from wireproof.targets.options import TargetOptions
    from wireproof.wire.fields import JsonObject

BAD_GATEWAY = 502
"""The lowest status of a gateway that is still starting. A 500 is an answer: LiteLLM 1.106 without its database package
gives one to whoever asks without a key."""
BAD_REQUEST = 400
"""The lowest status that refuses a request."""
REFUSALS = 5.0
"""Seconds that the upstream has to say what it refused."""
LARGEST = 1 << 20
"""Bytes that a template of a configuration may have."""
SHOWN = 3
"""How many kinds of refused requests are named."""
COMMIT = 0.3
"""Seconds that the upstream's status line waits for a first output: a script that fails before it fails at once, and
where one is silent the usual 2 s would only add up."""


TOKENS_WITHIN = 10.0
"""How long the upstream may take to give tokens."""
CLAIMS = "https://api.openai.com/auth"
"""The claim that names the account."""


@dataclass(frozen=True, kw_only=True)
class RunningUpstream:
    """A running upstream: where a gateway finds it, and with which key."""

    base_url: str
    """It ends in `/v1`."""
    key: str

    @property
    def host(self) -> str:
        """Its host and port."""
        return self.base_url.removeprefix("http://").removesuffix("/v1")

    def refused(self) -> str:
        """Which requests it has refused by itself, to complete an error; "" for none that are known."""
        refused = Counter(
            f"{one['method']} {one['path']} (HTTP {one['status']})"
            for one in self._received()
            # One that a script answered is refused as the script says.
            if one["script"] is None and (one["status"] or 0) >= BAD_REQUEST
        )
        said = ", ".join(f"{count} times {what}" if count > 1 else what for what, count in refused.most_common(SHOWN))
        return f" (the upstream refused {said})" if said else ""

    def asked_alone(self) -> Surface | None:
        """The one surface of which all was that was asked of its model so far; None: there are several, or none."""
        asked = {one["path"].partition("?")[0] for one in self._received() if one["script"] is not None}
        surfaces = {next((one for one in Surface if path.endswith(one.endpoint)), None) for path in asked}
        return surfaces.pop() if len(surfaces) == 1 else None

    def _received(self) -> Sequence[JsonObject]:
        """The requests that it has received; none where that is not known."""
        try:
            answer = httpx.get(f"http://{self.host}/_wireproof/requests?brief", trust_env=False, timeout=REFUSALS)
            return list(answer.json()["requests"]) if answer.is_success else []
        except (httpx.HTTPError, ValueError, LookupError):
            return []  # another program listens there, or it has ended

    def placeholders(self) -> dict[str, str]:
        """What stands for it in commands, variables and configurations → what is filled in."""
        return {"{upstream_url}": self.base_url, "{upstream_key}": self.key, "{upstream_host}": self.host}


@contextmanager
def upstream(port: int | None = None, *, timeout: float = 30.0) -> Iterator[RunningUpstream]:
    """The upstream for the length of a `with` block, at a free port with a key of its own, or at a port that is named.

    At a named port its key is that of `wireproof serve`, and a `wireproof serve` that listens there already is used
    instead.

    Raises:
        HarnessError: it does not start.
    """
    url = LOCAL if port is None else LOCAL.replace("{port}", str(port))
    if port is not None and not is_free(port):
        # Whether that is a `wireproof serve` shows when the gateway is first asked.
        yield RunningUpstream(base_url=url, key=SERVED_KEY)
        return
    key = secrets.token_urlsafe(12) if port is None else SERVED_KEY
    # In a file that its owner alone can read: `ps` shows every user the words of a command.
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="wireproof-key-") as file:
        file.write(key)
        file.flush()
        options = ("--api-key-file", file.name, "--unknown-models", UNKNOWN_MODEL, "--commit", str(COMMIT))
        command = [sys.executable, "-m", "wireproof_endpoint", *options, "--port", str(port or "{port}")]
        with launch(command, env={}, url=url, timeout=timeout) as launched:
            yield RunningUpstream(base_url=launched.base_url, key=key)


@contextmanager
def gateway(command: str, options: TargetOptions, behind: RunningUpstream) -> Iterator[Launched]:
    """The gateway that a command starts in front of an upstream, for the length of a `with` block.

    Raises:
        HarnessError: its configuration cannot be filled in, or it does not start.
    """
    # The port is chosen here and not by `launch`: a configuration may have to name it, too.
    values = {**behind.placeholders(), "{port}": str(free_port())}
    with ExitStack() as stack:
        found: Mapping[str, str] = {}
        if options.login is not None:
            placeholders, found = stack.enter_context(_scratch_login(behind.host))
            values |= placeholders
        if options.config_template is not None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            values["{config}"] = str(_configured(options.config_template, folder, values))
        env = {"PORT": values["{port}"], "PROXY_PORT": values["{port}"], **found}
        env |= variables(options.env, values)
        url = fill(options.url or LOCAL, values)
        # Word by word: the path of a file may have a space.
        words = [fill(word, values) for word in words_of(command)]
        launched = launch(words, env=env, url=url, timeout=options.start_timeout, below=BAD_GATEWAY)
        yield stack.enter_context(launched)


def asks_for_key(target: Target, budget: Budget | None = None) -> bool:
    """Whether a gateway past its preflight refuses a key that is neither its own nor its upstream's.

    It is asked on a route that it has, with either key: what it refuses with the right one, it refuses for another
    reason.

    Raises:
        HarnessError: it does not answer, or the budget is spent.
    """
    right, wrong = (_asked(target, auth, budget or Budget()).is_success for auth in (Auth.RIGHT, Auth.WRONG))
    return right and not wrong


def _asked(target: Target, auth: Auth, budget: Budget) -> httpx.Response:
    """The answer to a request for a text, on the first surface that is judged."""
    surface = target.dialects[0].spec.surface if target.dialects else Surface.CHAT
    try:
        asyncio.run(budget.take(b""))
        return httpx.post(
            address(target.url(surface.endpoint), target, auth),
            json={"model": target.model, **_WHO[surface]},
            headers=carried_headers(target, auth),
            timeout=target.timeout,
            **settings(target.base_url),
        )
    except SpentError as error:
        raise HarnessError(f"it is not known yet whether {target.base_url} asks for a key: {error}") from error
    except httpx.HTTPError as error:
        which = "a wrong key" if auth is Auth.WRONG else "its key"
        raise HarnessError(f"{target.base_url} gave no answer to a request with {which}: {error}") from error


_QUESTION = "Who is there?"
_WHO: Mapping[Surface, dict[str, Any]] = {
    Surface.CHAT: {"messages": [{"role": "user", "content": _QUESTION}]},
    Surface.RESPONSES: {"input": _QUESTION},
    Surface.MESSAGES: {"messages": [{"role": "user", "content": _QUESTION}], "max_tokens": 16},
}
"""What is asked on each surface."""


def fill(text: str, values: Mapping[str, str]) -> str:
    """A text with its placeholders filled in. Other braces stay as they are: JSON and YAML are full of them."""
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    return text


def variables(assignments: tuple[str, ...], values: Mapping[str, str]) -> dict[str, str]:
    """Environment variables of `NAME=VALUE`, their values filled in."""
    split = (one.partition("=") for one in assignments)
    return {name: fill(value, values) for name, _, value in split}


def _configured(template: Path, folder: Path, values: Mapping[str, str]) -> Path:
    """The file that a template becomes in a folder, under its own name: its ending may say how it is to be read."""
    try:
        text = content_of(template, LARGEST).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"the template {template} cannot be read: {error}") from error
    file = folder / template.name
    file.write_text(fill(text, values), encoding="utf-8")
    return file


@contextmanager
def _scratch_login(host: str) -> Iterator[tuple[Mapping[str, str], Mapping[str, str]]]:
    """A login at the upstream on `host` (host and port), for the length of a `with` block; thrown away with its folder.

    It is what stands for it in commands, variables and configurations → what is filled in; and the variables by which
    Codex and gateways find the file and refresh its tokens.

    Raises:
        HarnessError: the upstream gives no tokens.
    """
    tokens = _tokens(host)
    account, refresh = str(_claims(tokens["access_token"])[CLAIMS]["chatgpt_account_id"]), f"http://{host}/oauth/token"
    with tempfile.TemporaryDirectory(prefix="wireproof-login-") as home:
        text = json.dumps(_auth_file(tokens, account, datetime.now(UTC)), indent=2)
        for file in (Path(home, "auth.json"), Path(home, ".codex", "auth.json")):
            file.parent.mkdir(exist_ok=True)
            file.touch(mode=0o600)
            file.write_text(text, encoding="utf-8")
        placeholders = {
            "{login_home}": home,
            "{login_token}": tokens["access_token"],
            "{login_account}": account,
            "{login_url}": f"http://{host}/backend-api/codex",
            "{login_refresh_url}": refresh,
        }
        names = {"CODEX_HOME": home, "CHATGPT_LOCAL_HOME": home, "CODEX_REFRESH_TOKEN_URL_OVERRIDE": refresh}
        yield placeholders, names


def _tokens(host: str) -> dict[str, str]:
    asked = {"grant_type": "refresh_token", "refresh_token": "wireproof"}
    try:
        answer = httpx.post(f"http://{host}/oauth/token", json=asked, trust_env=False, timeout=TOKENS_WITHIN)
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
