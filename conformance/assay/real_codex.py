"""A real Codex as the backend of a launched proxy: its model's service plays the scripts.

It is given a home of its own, in which nobody is logged in and all that it would say to others is switched off.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.target import Lack
from assay.verdict import HarnessError
from assay_mocks.library import LIBRARY
from assay_mocks.upstream.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PATIENCE = 10.0
"""Seconds in which a Codex must tell its version."""
NATIVE_TOOLS = (0, 98)
"""The first version that takes tools of its client, and results as they are told today; those before lack the rest too.

Measured were 0.89.0 and 0.169.0.
"""
CONFIG = """\
model = "mock-model"
model_provider = "assay"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
analytics.enabled = false
{features}

[model_providers.assay]
name = "Assay"
base_url = "{url}"
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0
"""
OLDER_FEATURES = "features.remote_models = false"
FEATURES = "features.plugins = false\nfeatures.apps = false\nfeatures.unbounded_connection_retries = false"
_VERSION = re.compile(r"codex-cli (\d+)\.(\d+)\.\d+")


@dataclass(frozen=True, kw_only=True)
class RealCodex:
    """What a proxy is started with: the variables that name the Codex and its home; and what this Codex cannot do."""

    env: Mapping[str, str]
    lacks: frozenset[Lack]


@contextmanager
def real_codex(binary: Path) -> Iterator[RealCodex]:
    """A Codex that is ready to be started, and the service behind it, for the length of a `with` block.

    Raises:
        HarnessError: the binary is none that tells its version as Codex does.
    """
    newer = _version(binary) >= NATIVE_TOOLS
    with serving(LIBRARY) as service, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        config = CONFIG.format(features=FEATURES if newer else OLDER_FEATURES, url=service.url)
        Path(home, "config.toml").write_text(config, encoding="utf-8")
        env = {"CODEX_BIN": str(binary.absolute()), "CODEX_HOME": home, "HOME": home}
        yield RealCodex(env=env, lacks=frozenset() if newer else frozenset(Lack))


def _version(binary: Path) -> tuple[int, int]:
    try:
        done = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HarnessError(f"{binary} cannot be run: {error}") from error
    found = _VERSION.search(done.stdout)
    if found is None:
        raise HarnessError(f"{binary} is no Codex: to --version it says {done.stdout.strip()!r:.100}")
    return int(found[1]), int(found[2])
