"""A request, as the edge has read it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof_endpoint.endpoint import azure
from wireproof_endpoint.journal.entry import NOT_KEPT, JournalEntry
from wireproof_endpoint.play import WholeReply
from wireproof_surfaces.api_forms import form_of
from wireproof_surfaces.random_ids import random_hex
from wireproof_surfaces.surfaces.json_text import encoded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_surfaces.api_forms import ApiForm
    from wireproof_surfaces.errors import ApiError


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
        self.id = f"req_{random_hex(16)}"
        if (found := azure.resolved(self.path)) is None:
            self.form = form_of(self.path, self.headers)
        else:
            (self.path, self.deployment), self.form = found, azure.AZURE

    def refused(self, error: ApiError) -> WholeReply:
        """The response that is an error."""
        reply = self.form.reply(error, self.id)
        headers = {"Content-Type": "application/json", **reply.headers}
        return WholeReply(status=reply.status, headers=headers, body=encoded(reply.body))
