from __future__ import annotations

from typing import Any

import pytest

from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.surfaces.chat_dialect import HEADERS, FormatOptions, format_options


def test_what_is_not_said_is_not_wished() -> None:
    assert format_options({}, parallel=None) == FormatOptions()


def test_headers_say_how_calls_are_sent() -> None:
    headers = {
        "x-proxy-output-mode": "obsidian-xml",
        "x-proxy-tool-arguments": "cumulative",
        "x-proxy-stop-after-tools": "first",
    }
    sent = FormatOptions(output_mode="obsidian-xml", arguments="cumulative", stop_policy="first")
    assert format_options(headers, parallel=True) == sent


@pytest.mark.parametrize(("parallel", "policy"), [(True, "burst"), (False, "first"), (None, None)])
def test_parallel_calls_are_a_burst(parallel: Any, policy: Any) -> None:
    assert format_options({}, parallel=parallel).stop_policy == policy


@pytest.mark.parametrize("name", list(HEADERS))
def test_an_unknown_value_is_an_error_that_names_the_header(name: str) -> None:
    with pytest.raises(ApiError) as raised:
        format_options({name: "x"}, parallel=None)
    assert (raised.value.problem.status, raised.value.param) == (400, name)
