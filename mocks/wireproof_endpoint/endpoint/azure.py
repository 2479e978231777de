"""The paths of Azure OpenAI, as those of OpenAI; a deployment is named there in the place of a model. Pure.

/openai/deployments/NAME/chat/completions?api-version=…    /v1/chat/completions, with NAME as the model
/openai/v1/chat/completions                                /v1/chat/completions
/openai/responses?api-version=…                            /v1/responses
"""

from __future__ import annotations

from dataclasses import replace

from wireproof_surfaces.api_forms import AUTHORIZATION, OPENAI

ROOT = "/openai/"
_DEPLOYMENTS, _V1 = "deployments/", "v1/"
AZURE = replace(OPENAI, keys=("api-key", AUTHORIZATION))
"""OpenAI's form with Azure's header for keys."""


def resolved(path: str) -> tuple[str, str] | None:
    """The path at OpenAI and the deployment, empty where none is named; None: the path is not Azure's."""
    if not path.startswith(ROOT):
        return None
    rest = path.removeprefix(ROOT)
    if rest.startswith(_DEPLOYMENTS):
        name, _, rest = rest.removeprefix(_DEPLOYMENTS).partition("/")
        return f"/v1/{rest}", name
    return f"/v1/{rest.removeprefix(_V1)}", ""
