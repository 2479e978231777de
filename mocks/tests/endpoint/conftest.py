from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_endpoint.serving import endpoint_of, running
from wireproof_endpoint.settings import EndpointSettings
from wireproof_scripts.files.read import load_scripts
from wireproof_scripts.library import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Serve = Callable[..., str]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Serve]:
    """Serve scripts in the form of a file, beside the library, with these settings; returns the base URL."""
    with ExitStack() as stack:

        def serve(scripts: str = "", **settings: Any) -> str:
            library = LIBRARY
            if scripts:
                file = tmp_path / "scripts.yaml"
                file.write_text(scripts, encoding="utf-8")
                library = {**LIBRARY, **load_scripts(file)}
            endpoint = endpoint_of(EndpointSettings(**settings), lambda: library)
            return stack.enter_context(running(endpoint))

        yield serve
