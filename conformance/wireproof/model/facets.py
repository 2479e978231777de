"""Which row is broken by what is wrong with a part of an answer, where the same thing is of another row in each form.

The rows say it themselves (`Requirement.facets`, `Requirement.capability`). They are those of this package, whatever
catalogue a run is judged by, as the ids of checks are: an edition that lacks the row passes over what breaks it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from wireproof.model.catalogue import load
from wireproof.wire.facet import Facet

if TYPE_CHECKING:
    from wireproof.model.capability import Capability
    from wireproof.model.scenario import Form


@cache
def row_of(facet: Facet, form: Form) -> str:
    """The id of the row that speaks of this part of answers of this form.

    Raises:
        LookupError: no row does; the catalogue has a hole.
    """
    row = load().of_facet(facet, form)
    if row is None:
        raise LookupError(f"no row of the catalogue has {facet.value!r} among its facets for {form}")
    return row.id


@cache
def row_of_capability(capability: Capability, form: Form) -> str:
    """The id of the row that asks for a capability; that of tool calls depends on the form."""
    rows = (row.id for row in load().requirements if row.capability is capability)
    return next(rows, None) or row_of(Facet.CALL, form)
