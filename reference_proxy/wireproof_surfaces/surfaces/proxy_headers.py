"""The `x-proxy-*` headers: a request says in them how calls are to be written, a response how they were. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast, get_args

from wireproof_surfaces.errors import INVALID_PARAM, ApiError
from wireproof_surfaces.surfaces.chat_dialect import ArgumentsMode, OutputMode, StopPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_surfaces.surfaces.chat_dialect import CallFormat

OUTPUT_MODE_HEADER = "x-proxy-output-mode"
ARGUMENTS_HEADER = "x-proxy-tool-arguments"
STOP_HEADER = "x-proxy-stop-after-tools"

HEADERS: Mapping[str, tuple[str, ...]] = {
    OUTPUT_MODE_HEADER: get_args(OutputMode),
    ARGUMENTS_HEADER: get_args(ArgumentsMode),
    STOP_HEADER: get_args(StopPolicy),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class FormatOptions:
    """How a request wants calls written; None where it does not say."""

    output_mode: OutputMode | None = None
    arguments: ArgumentsMode | None = None
    stop_policy: StopPolicy | None = None


_NO_OPTIONS = FormatOptions()


def format_options(headers: Mapping[str, str], *, parallel: bool | None) -> FormatOptions:
    """What headers and `parallel_tool_calls` say; header names are lower-case, and a header wins over the parameter.

    Raises:
        ApiError: 400, `param` naming the first header whose value is unknown.
    """
    if parallel is None and headers.keys().isdisjoint(HEADERS):
        return _NO_OPTIONS
    for name, values in HEADERS.items():
        # mode.invalid: an unknown value is never replaced by a default.
        if name in headers and headers[name] not in values:
            right = " or ".join(values)
            raise ApiError(INVALID_PARAM, message=f"The header `{name}` must be {right}.", param=name)
    # The order is header, `parallel_tool_calls`, setting (contract §1).
    by_parallel: StopPolicy | None = None if parallel is None else "burst" if parallel else "first"
    return FormatOptions(
        output_mode=cast("OutputMode | None", headers.get(OUTPUT_MODE_HEADER)),
        arguments=cast("ArgumentsMode | None", headers.get(ARGUMENTS_HEADER)),
        stop_policy=cast("StopPolicy | None", headers.get(STOP_HEADER)) or by_parallel,
    )


def echoed(call_format: CallFormat) -> dict[str, str]:
    """The headers of an answer that is written in this format."""
    return {
        OUTPUT_MODE_HEADER: call_format.output_mode,
        ARGUMENTS_HEADER: call_format.arguments,
        STOP_HEADER: call_format.policy,
    }
