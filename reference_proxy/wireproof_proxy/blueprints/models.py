"""The models: those of the settings, and those that were asked for although they are not listed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from flask import Blueprint, request

from wireproof_proxy.blueprints.request_parts import form_headers
from wireproof_surfaces.answers.plan import serves
from wireproof_surfaces.api_forms import ServedModels, form_of
from wireproof_surfaces.errors import UNKNOWN_MODEL, ApiError

if TYPE_CHECKING:
    from wireproof_proxy.settings import ProxySettings
    from wireproof_surfaces.answers.asked_models import AskedModels


def models_blueprint(settings: ProxySettings, asked: AskedModels) -> Blueprint:
    """`/v1/models` and `/v1/models/NAME`."""
    blueprint = Blueprint("models", __name__)
    # The type requires `created`, and no better date is known; read once, so that every answer says the same.
    started = int(time.time())

    def served() -> ServedModels:
        names = dict.fromkeys((*settings.models, *asked.names))
        return ServedModels(names=names, created=started, owner=settings.backend)

    @blueprint.get("/v1/models")
    def list_models() -> dict[str, object]:
        return form_of(request.path, form_headers()).models(served(), request.args)

    # `path`: the names of models may hold slashes.
    @blueprint.get("/v1/models/<path:name>")
    def get_model(name: str) -> dict[str, object]:
        if not serves(name, settings):
            raise ApiError(UNKNOWN_MODEL, message=f"The model `{name}` is not served here.", param="model")
        return form_of(request.path, form_headers()).model(served(), name)

    return blueprint
