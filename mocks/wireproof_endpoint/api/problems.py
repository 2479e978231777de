"""The codes of OpenAI's refusals. Pure."""

from __future__ import annotations

from wireproof_surfaces.errors import INVALID, Problem


def _problem(code: str | None) -> Problem:
    return Problem(400, INVALID, code, "A parameter is not acceptable.")


# The codes as the service sends them.
EMPTY, LONG = _problem("empty_array"), _problem("array_above_max_length")
TYPE = _problem("invalid_type")
INTEGER_ABOVE, INTEGER_BELOW = _problem("integer_above_max_value"), _problem("integer_below_min_value")
DECIMAL_ABOVE, DECIMAL_BELOW = _problem("decimal_above_max_value"), _problem("decimal_below_min_value")
FUNCTION_SCHEMA, JSON_SCHEMA = _problem("invalid_function_parameters"), _problem("invalid_json_schema")
TOGETHER, MANY = _problem("invalid_parameter_combination"), _problem("object_above_max_properties")
TEXT_LONG = _problem("string_above_max_length")
UNSUPPORTED = _problem("unsupported_value")
UNCODED = _problem(None)
NO_PREVIOUS = _problem("previous_response_not_found")
"""The proxy's own status for it is 404."""
