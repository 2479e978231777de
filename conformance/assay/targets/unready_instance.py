"""The twin of a proxy that Assay starts: the same command, with a backend that never shakes hands.

With it can be seen what a proxy does before its backend is ready. A proxy that does not start so has no twin.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.verdict import HarnessError
from assay.targets.launch import launch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PATIENCE = 10.0
"""Seconds in which a twin must answer."""
MUTE = "#!/bin/sh\nexec cat > /dev/null\n"
"""A backend that listens and says nothing, until its input ends."""


@contextmanager
def unready_instance(command: str, *, env: Mapping[str, str], url: str) -> Iterator[str | None]:
    """The base URL of a twin for the length of a `with` block; None when there is none.

    Args:
        command: As for `launch`.
        env: Variables of the twin.
        url: Its base URL, with `{port}`: at a fixed port there is no room for a second proxy.
    """
    with ExitStack() as stack:
        base_url = None
        if "{port}" in url:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            mute = Path(folder) / "mute-backend"
            mute.write_text(MUTE, encoding="utf-8")
            mute.chmod(0o700)
            try:
                launched = launch(command, env={**env, "CODEX_BIN": str(mute)}, url=url, timeout=PATIENCE, below=600)
                base_url = stack.enter_context(launched).base_url
            except HarnessError:
                base_url = None
        yield base_url
