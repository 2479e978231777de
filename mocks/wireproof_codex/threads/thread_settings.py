"""The settings of a thread, which a turn may change for itself and those after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEFAULT_MODEL = "mock-model"
SANDBOXES: Mapping[str, Mapping[str, Any]] = {
    # `access` was sent from 0.100.0 to before 0.134.0 (`versions.names`).
    "read-only": {"type": "readOnly", "access": {"type": "fullAccess"}, "networkAccess": False},
    "workspace-write": {
        "type": "workspaceWrite",
        "writableRoots": [],
        "networkAccess": False,
        "excludeTmpdirEnvVar": False,
        "excludeSlashTmp": False,
    },
    "danger-full-access": {"type": "dangerFullAccess"},
}


@dataclass(kw_only=True, slots=True)
class ThreadSettings:
    """What a turn may change for the turns after it."""

    asked_model: str | None
    """The model that the client named, None if it named none."""
    approval_policy: str
    sandbox: Mapping[str, Any]
    effort: str | None = None
    summary: str | None = None
    collaboration: Mapping[str, Any] | None = None
    personality: str | None = None
    """None for the default of the version."""

    @property
    def mode(self) -> str | None:
        """The collaboration mode, None for the default of the version."""
        return str(self.collaboration["mode"]) if self.collaboration else None

    @property
    def model(self) -> str:
        """The model as the client sees it."""
        return self.asked_model or _DEFAULT_MODEL

    @staticmethod
    def names(params: Mapping[str, Any]) -> bool:
        """Whether a turn/start names any of them."""
        return any(params.get(name) is not None for name in (*_OVERRIDES, "cwd"))

    def override(self, params: Mapping[str, Any]) -> bool:
        """Take the overrides of a turn/start; True if any setting changed."""
        given = {
            field_name: params[name]
            for name, field_name in _OVERRIDES.items()
            # The default model by its name is no change (0.134.0 to 0.171.0).
            if params.get(name) is not None and params[name] != getattr(self, name if name == "model" else field_name)
        }
        # They stay for later turns, as in 0.89.0 and 0.169.0.
        for name, value in given.items():
            setattr(self, name, value)
        return bool(given)


# As turn/start and thread/settings/update spell them, and the fields here.
_OVERRIDES = {
    "model": "asked_model",
    "approvalPolicy": "approval_policy",
    "sandboxPolicy": "sandbox",
    "effort": "effort",
    "summary": "summary",
    "collaborationMode": "collaboration",
    "personality": "personality",
}
