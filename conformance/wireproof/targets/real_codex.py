"""A real Codex as the backend of a launched proxy: a mock of its model's service plays the scripts.

It gets a home of its own, without a login and with everything switched off that would send data elsewhere.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof.targets.capabilities import missing_in, version_of
from wireproof_scripts.library import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wireproof.model.target import Missing

NEWER = (0, 98)
"""The first version, of those tried, that takes the configuration of the newest."""
# The model is one that Codex does not know: one that it knows may get no tools but write programs instead (0.169.0:
# gpt-6.1-sol). With "never" no request for approval is sent. With retries an answer would begin again under another id,
# its text repeated.
CONFIG = """\
model = "mock-model"
model_provider = "wireproof"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
analytics.enabled = false
{features}

[model_providers.wireproof]
name = "Wireproof"
base_url = "{url}"
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0
"""
# Without it 0.89.0 tries for 3 s to load a list of models at the start of each thread.
OLDER_FEATURES = "features.remote_models = false"
# Else 0.169.0 asks GitHub for plugins at its start, and tries endlessly to reach a service that refuses connections.
FEATURES = "features.plugins = false\nfeatures.apps = false\nfeatures.unbounded_connection_retries = false"


@dataclass(frozen=True, kw_only=True)
class RealCodex:
    """A Codex that a proxy can start."""

    env: Mapping[str, str]
    """The variables of the proxy that name the Codex and its home."""
    missing: frozenset[Missing]
    """The capabilities that this version does not have."""


@contextmanager
def real_codex(binary: Path) -> Iterator[RealCodex]:
    """A Codex that is ready to be started, and the service behind it, for the length of a `with` block.

    Raises:
        HarnessError: the binary cannot be run, or does not print its version as Codex does.
    """
    from wireproof_mocks.upstream.serving import serving  # noqa: PLC0415 (a server would slow every start)

    version = version_of(binary)
    with serving(LIBRARY) as service, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        config = CONFIG.format(features=FEATURES if version >= NEWER else OLDER_FEATURES, url=service.url)
        Path(home, "config.toml").write_text(config, encoding="utf-8")
        # Absolute, since the proxy may run in another folder. HOME as well, so that nothing of the user's is read.
        env = {"CODEX_BIN": str(binary.absolute()), "CODEX_HOME": home, "HOME": home}
        yield RealCodex(env=env, missing=missing_in(version))
