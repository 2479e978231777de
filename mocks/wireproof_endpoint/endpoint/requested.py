"""A request, as the edge has read it, and JSON as the response.

The paths of Azure OpenAI count as those of OpenAI; a deployment is named there in the place of a model:

    /openai/deployments/NAME/chat/completions?api-version=…    /v1/chat/completions, with NAME as the model
    /openai/v1/chat/completions                                /v1/chat/completions
    /openai/responses?api-version=…                            /v1/responses
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from wireproof_endpoint.journal.entry import NOT_KEPT, JournalEntry
from wireproof_endpoint.play import WholeReply
from wireproof_surfaces.api_forms import AUTHORIZATION, OPENAI, form_of
from wireproof_surfaces.http.body import object_in
from wireproof_surfaces.random_ids import request_id
from wireproof_surfaces.surfaces.json_text import encoded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_surfaces.api_forms import ApiForm
    from wireproof_surfaces.errors import ApiError

AZURE = replace(OPENAI, keys=("api-key", AUTHORIZATION))
"""OpenAI's form with Azure's header for keys."""
_AZURE, _DEPLOYMENTS, _V1 = "/openai/", "deployments/", "v1/"


@dataclass(kw_only=True, eq=False)
class EndpointRequest:
    """A request."""

    method: str
    path: str
    """Without its query, percent signs resolved."""
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    """By lower-case names."""
    body: bytes = b""
    """As far as it was read."""
    entry: JournalEntry = field(default=NOT_KEPT, repr=False)
    """Where the journal notes it."""
    deployment: str | None = field(default=None, init=False)
    """Of Azure's paths, what the path names in the place of a model, which may be nothing; None: not Azure's."""
    limits: Mapping[str, str] = field(default_factory=dict, init=False)
    """Headers of its response that say what is left of a quota."""

    form: ApiForm = field(init=False)
    """The form of the API that it is of."""
    id: str = field(init=False)
    """The id of its response."""

    def __post_init__(self) -> None:
        """Take one of Azure's paths as OpenAI's."""
        self.id = request_id()
        if not self.path.startswith(_AZURE):
            self.form = form_of(self.path, self.headers)
            return
        self.form, rest = AZURE, self.path.removeprefix(_AZURE)
        if rest.startswith(_DEPLOYMENTS):
            self.deployment, _, rest = rest.removeprefix(_DEPLOYMENTS).partition("/")
        else:
            self.deployment, rest = "", rest.removeprefix(_V1)
        self.path = f"/v1/{rest}"

    @property
    def parameters(self) -> dict[str, str]:
        """Those of its query."""
        return dict(parse_qsl(self.query))

    def object(self) -> Mapping[str, Any]:
        """The JSON object in its body.

        Raises:
            ApiError: 415 or 400, when there is none.
        """
        media_type = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        body = object_in(self.body, media_type)
        return {"model": self.deployment, **body} if self.deployment else body

    def refused(self, error: ApiError) -> WholeReply:
        """The response that is an error."""
        reply = self.form.reply(error, self.id)
        headers = {"Content-Type": "application/json", **reply.headers}
        return WholeReply(status=reply.status, headers=headers, body=encoded(reply.body))


def json_reply(payload: Mapping[str, Any], status: int = 200) -> WholeReply:
    """A whole response of JSON."""
    return WholeReply(status=status, headers={"Content-Type": "application/json"}, body=encoded(payload))
