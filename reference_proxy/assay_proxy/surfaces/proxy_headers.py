"""The `x-proxy-*` headers, by which a client says how calls are to be told. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast, get_args

from assay_proxy.errors import INVALID_PARAM, ApiError
from assay_proxy.settings import ArgumentsMode, OutputMode, StopPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping

OUTPUT_MODE_HEADER = "x-proxy-output-mode"
ARGUMENTS_HEADER = "x-proxy-tool-arguments"
STOP_HEADER = "x-proxy-stop-after-tools"

HEADERS: Mapping[str, tuple[str, ...]] = {
    OUTPUT_MODE_HEADER: get_args(OutputMode),
    ARGUMENTS_HEADER: get_args(ArgumentsMode),
    STOP_HEADER: get_args(StopPolicy),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Wishes:
    """How a request wants calls told; None where it does not say."""

    output_mode: OutputMode | None = None
    arguments: ArgumentsMode | None = None
    stop_policy: StopPolicy | None = None


def wishes(headers: Mapping[str, str], *, parallel: bool | None) -> Wishes:
    """What headers and `parallel_tool_calls` say; header names are lower-case, and headers count first.

    Raises:
        ApiError: 400, `param` naming the first header whose value is unknown.
    """
    for name, words in HEADERS.items():
        if name in headers and headers[name] not in words:
            right = " or ".join(words)
            raise ApiError(INVALID_PARAM, message=f"The header `{name}` must be {right}.", param=name)
    asked: StopPolicy | None = None if parallel is None else "burst" if parallel else "first"
    return Wishes(
        output_mode=cast("OutputMode | None", headers.get(OUTPUT_MODE_HEADER)),
        arguments=cast("ArgumentsMode | None", headers.get(ARGUMENTS_HEADER)),
        stop_policy=cast("StopPolicy | None", headers.get(STOP_HEADER)) or asked,
    )
