"""The unready instance of a proxy that Wireproof starts: the same command, with a backend that never shakes hands.

It shows what a proxy does before its backend is ready. A proxy that does not start with such a backend has none.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof.model.verdict import HarnessError
from wireproof.targets.launch import launch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PATIENCE = 10.0
"""Seconds in which the instance must answer."""
# It must live: a backend that ended would be restarted, or be reported as dead instead of as not ready. `exec` leaves
# no shell between, so the end of its input or a signal ends it.
MUTE = "#!/bin/sh\nexec cat > /dev/null\n"
"""A backend that reads its input to the end and never writes."""


@contextmanager
def unready_instance(
    command: str | Sequence[str],
    *,
    env: Mapping[str, str],
    url: str,
    without: str | None = None,
    unready: Mapping[str, str] | None = None,
    at_need: bool = False,
) -> Iterator[str | None]:
    """The base URL of an unready instance for the length of a `with` block; None where there cannot be one.

    The arguments are those of `launch`. The URL has a `{port}`: at a fixed port there is no room for a second proxy.
    `unready` are the variables by which its backend never gets ready; None: those of a Codex that never answers.
    """
    with ExitStack() as stack:
        base_url = None
        if "{port}" in url:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            mute = Path(folder) / "mute-backend"
            mute.write_text(MUTE, encoding="utf-8")
            mute.chmod(0o700)  # a proxy starts it as a program
            mine = {**env, **({"CODEX_BIN": str(mute)} if unready is None else unready)}
            # It may rightly refuse to start; then what it would do unready is not observed. `below=600`: a 503 for the
            # list of models is an answer, too, while nothing is ready.
            with suppress(HarnessError):
                launched = launch(
                    command, env=mine, url=url, timeout=PATIENCE, below=600, without=without, at_need=at_need
                )
                base_url = stack.enter_context(launched).base_url
        yield base_url
