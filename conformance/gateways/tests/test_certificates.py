"""Certificates of gateways from PyPI and npm, with Wireproof's upstream behind them.

`findings.toml` has what is broken at each level, and what was seen of it in the bytes by a person. What only some runs
find (`sometimes`) may be found, and may not.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wireproof.cli.plan import plan
from wireproof.model.dialect import Surface
from wireproof.model.target import Backend, Login
from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.targets.kinds import header
from wireproof.targets.options import RunOptions, TargetOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

HERE = Path(__file__).resolve().parents[1]
INSTALLED = Path(sys.prefix) / HERE.name
PORTKEY = INSTALLED / "node_modules/@portkey-ai/gateway/build/start-server.js"
LITELLM = INSTALLED / "python/bin/litellm"
OTHERS = INSTALLED / "python-login/bin/python"
OAUTH = INSTALLED / "node_modules/openai-oauth/dist/cli.js"
ROUTER = INSTALLED / "claude_code_router.cjs"
FINDINGS = tomllib.loads((HERE / "findings.toml").read_text(encoding="utf-8"))
PAGE = (HERE.parents[1] / "docs" / "gateways.md").read_text(encoding="utf-8")
[KEY] = re.findall(r"^export LITELLM_MASTER_KEY=(\S+)$", PAGE, re.MULTILINE)
"""The page's own: LiteLLM refuses keys that are known from everywhere."""
_OF_LITELLM = ("LITELLM_LOCAL_MODEL_COST_MAP=True", "LITELLM_TELEMETRY=False")
"""Else it loads a list of prices from GitHub, and reports its use."""
_LOGIN_HERE = f"{shlex.quote(str(OTHERS))} {shlex.quote(str(HERE / 'login_here.py'))} {{login_url}}"
GATEWAYS: Mapping[str, TargetOptions] = {
    "litellm": TargetOptions(
        gateway=f"{shlex.quote(str(LITELLM))} --config {{config}} --host 127.0.0.1 --port {{port}}",
        config_template=HERE / "litellm.yaml",
        env=_OF_LITELLM,
        api_key_env="LITELLM_MASTER_KEY",
        start_timeout=120.0,
        timeout=30.0,
    ),
    "litellm-chatgpt": TargetOptions(
        gateway=f"{shlex.quote(str(LITELLM))} --config {{config}} --host 127.0.0.1 --port {{port}}",
        config_template=HERE / "litellm-chatgpt.yaml",
        login=Login.CHATGPT,
        env=(*_OF_LITELLM, "CHATGPT_TOKEN_DIR={login_home}", "CHATGPT_API_BASE={login_url}"),
        api_key_env="LITELLM_MASTER_KEY",
        start_timeout=120.0,
        timeout=30.0,
    ),
    "chatmock": TargetOptions(
        gateway=f"{_LOGIN_HERE} chatmock serve --host 127.0.0.1 --port {{port}}",
        login=Login.CHATGPT,
        env=("CHATGPT_LOCAL_ISSUER=http://{upstream_host}",),
        timeout=20.0,
    ),
    "codex-api-proxy": TargetOptions(
        gateway=f"{_LOGIN_HERE} codex-api-proxy start --foreground --host 127.0.0.1 --port {{port}}",
        login=Login.CHATGPT,
        timeout=20.0,
    ),
    "openai-oauth": TargetOptions(
        # Without a version it asks npm's registry which Codex is the newest.
        gateway=f"node {shlex.quote(str(OAUTH))} --port {{port}} --base-url {{login_url}}"
        " --oauth-token-url {login_refresh_url} --codex-version 0.171.0 --no-open",
        login=Login.CHATGPT,
        timeout=20.0,
    ),
    "portkey": TargetOptions(
        gateway=f"node {shlex.quote(str(PORTKEY))} --port={{port}} --headless",
        header=(
            header("x-portkey-provider=openai"),
            header("x-portkey-custom-host={upstream_url}"),
        ),
        # Messages it serves for other providers alone: "messages is not supported by openai", with a 500.
        wanted=(Surface.CHAT, Surface.RESPONSES),
        model="codex",
        start_timeout=60.0,
        timeout=30.0,
    ),
    "claude-code-router": TargetOptions(
        gateway=f"node {shlex.quote(str(ROUTER))} {{port}} {{upstream_url}} {{upstream_key}}",
        wanted=(Surface.MESSAGES,),
        model="upstream,codex",
        start_timeout=60.0,
        timeout=30.0,
    ),
}
SERVED = {
    "litellm": 3700,
    "litellm-chatgpt": 3400,
    "chatmock": 2400,
    "codex-api-proxy": 2600,
    "openai-oauth": 2400,
    "portkey": 2900,
    "claude-code-router": 1000,
}
"""Gateway → more outcomes are right than these: 3824, 3567, 2540, 2803, 2562, 3015 and 1077 were."""


PLACES = {
    "'litellm --": f"'{LITELLM} --",
    "'node node_modules/@portkey-ai/gateway/build/start-server.js ": f"'node {PORTKEY} ",
    "'node node_modules/openai-oauth/dist/cli.js ": f"'node {OAUTH} ",
    "'python login_here.py ": f"'{OTHERS} {HERE / 'login_here.py'} ",
    "-template litellm": f"-template {HERE / 'litellm'}",
}
"""What stands on the page for something that is installed here."""
_COMMAND = re.compile(r"^wireproof certify --gateway '(?!my-gateway).*$", re.MULTILINE)
DOCUMENTED = _COMMAND.findall(PAGE.replace("\\\n", " "))


@pytest.mark.parametrize("command", DOCUMENTED)
def test_a_command_of_the_page_is_what_is_run(command: str) -> None:
    for there, here in PLACES.items():
        command = command.replace(there, here)
    # Options are written with decimals, and without the values of headers.
    words = {re.sub(r"^(x-[a-z-]+=).*", r"\1***", word) for word in shlex.split(command)[2:]}
    run = {name: {word.removesuffix(".0") for word in options.words()} for name, options in GATEWAYS.items()}
    assert [name for name in run if words <= run[name]], {name: words - run[name] for name in run}


@pytest.mark.parametrize("name", GATEWAYS)
def test_a_gateway_breaks_what_was_confirmed_and_nothing_else(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_MASTER_KEY", KEY)
    # Beside its package, where alone it finds it.
    shutil.copy(HERE / ROUTER.name, ROUTER)
    certificate = plan(GATEWAYS[name], RunOptions(jobs=4)).certify()
    assert certificate.target.backend is Backend.ENDPOINT
    assert certificate.counts[Verdict.PASS] > SERVED[name]
    assert certificate.counts[Verdict.ERROR] == 0
    compat, strict = (set(certificate.broken_at(level)) for level in (VerdictLevel.COMPAT, VerdictLevel.STRICT))
    confirmed = {part: set(rows) for part, rows in FINDINGS[name].items()}
    compat, strict = (found - confirmed.get("sometimes", set()) for found in (compat, strict))
    assert sorted(compat) == sorted(confirmed["compat"])
    assert sorted(strict - compat) == sorted(confirmed["strict"] - compat)
