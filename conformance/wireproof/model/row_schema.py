"""The JSON Schema of a row of the catalogue, for other tools: what `schemas/wireproof/requirement.json` holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from wireproof.model.catalogue import ID, ExclusionRow, RequirementRow
from wireproof.model.dialect import Dialect
from wireproof.model.requirement import Level

if TYPE_CHECKING:
    from pydantic_core.core_schema import WithDefaultSchema


def schema() -> dict[str, Any]:
    """The schema; what a row of a level needs besides is said by its `allOf`."""
    row, exclusion = (one.model_json_schema(schema_generator=_Plain) for one in (RequirementRow, ExclusionRow))
    defs = row.pop("$defs")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        # A name and no address: .invalid never resolves (RFC 2606).
        "$id": "https://wireproof.invalid/schemas/wireproof/requirement.json",
        **row,
        "title": "requirement",
        "description": "One row of the requirement catalogue, as it stands under its dotted id in requirements/*.toml.",
        "allOf": [
            {
                "if": {"properties": {"level": {"const": Level.MUST.value}}},
                "then": {"required": ["compat", "harm"]},
            },
            {
                "if": {"properties": {"compat": {"const": True}}, "required": ["compat"]},
                "then": {"anyOf": [{"required": ["breaks"]}, {"required": ["compat_why"]}]},
                "else": {"not": {"anyOf": [{"required": ["breaks"]}, {"required": ["compat_why"]}]}},
            },
        ],
        "$defs": {
            "id": {"description": "lower-case words joined by dots", "type": "string", "pattern": f"^{ID.pattern}$"},
            # Here for scenario.json, which is written by hand and refers to it.
            "dialect": {"enum": [dialect.value for dialect in Dialect]},
            **defs,
            "exclusion": exclusion,
        },
    }


class _Plain(GenerateJsonSchema):
    """Without titles, which repeat the names of fields, and defaults, which `Requirement` has."""

    def field_title_should_be_set(self, schema: object) -> bool:
        """No field has one."""
        del schema
        return False

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        """The schema of the value alone."""
        return self.generate_inner(schema["schema"])
