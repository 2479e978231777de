"""What clients read at their start: models, modes, configuration, skills, MCP servers, accounts. Most is empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_codex.methods.lookup import constant, find_thread
from wireproof_codex.notifications import messages
from wireproof_codex.protocol.params import Refused
from wireproof_codex.protocol.whole_number import whole_number
from wireproof_codex.versions.marks import known

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wireproof_codex.context import AdmittedRequest
    from wireproof_codex.protocol.json_object import Json

# There is no service of a model; nothing listens on port 9 (discard).
_URL = "http://127.0.0.1:9/v1"


# Lists in pages


def _pages(what: str, entries: Sequence[Json]) -> Callable[[AdmittedRequest], None]:
    """Answer with a page of these; its cursor is the number of the entry with which the next begins."""

    def answer(request: AdmittedRequest) -> None:
        cursor, limit = request.params.get("cursor"), request.params.get("limit")
        start = 0 if cursor is None else whole_number(cursor)
        if start is None:
            raise Refused(f"invalid cursor: {cursor}")
        if start > len(entries):
            raise Refused(f"cursor {start} exceeds total {what} {len(entries)}")
        end = len(entries) if limit is None else start + max(1, limit)
        request.reply({"data": list(entries[start:end]), "nextCursor": str(end) if end < len(entries) else None})

    return answer


_SMALL: Json = {
    **messages.MODEL,
    "id": "mock-model-small",
    "model": "mock-model-small",
    "displayName": "Small mock model",
    "isDefault": False,
}
_PROFILES: Sequence[Json] = tuple(
    {"id": name, "description": None, "allowed": True} for name in (":read-only", ":workspace", ":danger-full-access")
)


# Configuration


def _config_read(request: AdmittedRequest) -> None:
    """The configuration of a codex whose model's service is the mock's."""
    layers: Json = {"layers": []} if request.params.get("includeLayers") else {}
    request.reply({"config": {**dict.fromkeys(_UNSET.split()), **_CONFIG}, "origins": {}, **layers})


_UNSET = """
    model review_model model_context_window model_auto_compact_token_limit model_provider approval_policy sandbox_mode
    sandbox_workspace_write forced_chatgpt_workspace_id forced_login_method web_search tools profile profiles
    instructions developer_instructions compact_prompt model_reasoning_effort model_reasoning_summary model_verbosity
    analytics
"""
_CONFIG: Json = {
    "model": "mock-model",
    "model_provider": messages.PROVIDER,
    "approval_policy": "never",  # this and the sandbox as in the recorded installations
    "sandbox_mode": "read-only",
    "profiles": {},
    "model_providers": {messages.PROVIDER: {"name": messages.PROVIDER, "base_url": _URL, "wire_api": "responses"}},
}


def _model_providers(request: AdmittedRequest) -> None:
    own: Json = {"type": "customGateway", "auth": {"mode": "none"}}
    mock = {"id": messages.PROVIDER, "name": messages.PROVIDER, "canEdit": True, "baseUrl": _URL, "settings": own}
    request.reply({"data": [_OPENAI, mock], "defaultProviderId": messages.PROVIDER, "canChangeDefault": True})


_OPENAI: Json = {
    "id": "openai",
    "name": "OpenAI",
    "canEdit": False,
    "baseUrl": None,
    "settings": {"type": "openai"},
}


def _modes(request: AdmittedRequest) -> None:
    """The modes, as far as they are played; the oldest ones had instructions and models of their own."""
    if not known(_NAMED_MODES, request.server.version.number):
        raise Refused("wireproof-codex does not play collaborationMode/list")
    request.reply(
        {"data": [{"name": mode.title(), "mode": mode, "model": None, **more} for mode, more in _MODES.items()]}
    )


_NAMED_MODES = "modes+0.118"
_MODES: Mapping[str, Json] = {"plan": {"reasoning_effort": "medium"}, "default": {"reasoning_effort": None}}


def _in_folders(*fields: str) -> Callable[[AdmittedRequest], None]:
    """Answer with an empty list for each folder of the request."""

    def answer(request: AdmittedRequest) -> None:
        folders = request.params.get("cwds") or [request.server.cwd]
        request.reply({"data": [{"cwd": cwd, **{name: [] for name in fields}} for cwd in folders]})

    return answer


# Accounts


def _needs_account(what: str) -> Callable[[AdmittedRequest], None]:
    def refuse(request: AdmittedRequest) -> None:
        del request
        raise Refused(f"codex account authentication required to read {what}")

    return refuse


# Threads' settings


def _settings_update(request: AdmittedRequest) -> None:
    thread, server = find_thread(request), request.server
    changed = thread.override(request.params)
    request.reply({})
    if changed:
        server.notify(thread, "thread/settings/updated", messages.settings_updated(thread, server.version))


METHODS: Mapping[str, Callable[[AdmittedRequest], None]] = {
    "model/list": _pages("models", (messages.MODEL, _SMALL)),
    "permissionProfile/list": _pages("permission profiles", _PROFILES),
    "config/read": _config_read,
    "configRequirements/read": constant(supportsIndependentSpeedModes=True, requirements=None),
    "modelProvider/list": _model_providers,
    "modelProvider/capabilities/read": constant(namespaceTools=True, imageGeneration=True, webSearch=True),
    "collaborationMode/list": _modes,
    "skills/list": _in_folders("skills", "errors"),
    "hooks/list": _in_folders("hooks", "warnings", "errors"),
    "app/list": constant(data=[], nextCursor=None),
    # Empty, since what a real server lists is the installation's own.
    "experimentalFeature/list": constant(data=[], nextCursor=None),
    "mcpServerStatus/list": constant(data=[], nextCursor=None),
    # As real servers answer without a login, for a provider that needs none.
    "account/read": constant(account=None, userId=None, requiresOpenaiAuth=False, workspaceRouting=None),
    "account/rateLimits/read": _needs_account("rate limits"),
    "account/usage/read": _needs_account("token usage"),
    "getAuthStatus": constant(authMethod=None, authToken=None, requiresOpenaiAuth=False),
    "thread/settings/update": _settings_update,
}
