"""What real clients of Messages do with each fault, as a table.

`python conformance/clients/tests/measure.py [--draw N --seed S] [FAULT…]`
"""

from __future__ import annotations

import argparse
import random
import sys
from concurrent.futures import ThreadPoolExecutor

from measuring import MEASURED, effects

from clients import HERE, installed
from wireproof.targets.launch import launch
from wireproof_mocks.miniatures import FAULTS
from wireproof_mocks.miniatures.fault import MESSAGES
from wireproof_mocks.miniatures.target_faults import TARGET_FAULTS

KEY = "a key of the measurements"
# Faults of whole targets end the process that serves all miniatures, or answer nothing, to whoever asks.
OF_MESSAGES = sorted(
    name for name, fault in FAULTS.items() if MESSAGES in fault.dialects and fault not in TARGET_FAULTS
)
SETTINGS = {"PROXY_API_KEY": KEY, "WIREPROOF_SCRIPTS": str(HERE / "scripts.yaml"), "PROXY_KEEPALIVE_MS": "100"}
AT_ONCE = 2


def drawn(number: int, seed: int) -> list[str]:
    """Faults drawn at random; the same ones for the same seed."""
    return random.Random(seed).sample(OF_MESSAGES, number)  # noqa: S311 (a draw, no secret)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("faults", nargs="*", metavar="FAULT", help="all of Messages by default")
    parser.add_argument("--draw", type=int, help="so many of them, drawn at random")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    unknown = set(given.faults) - set(OF_MESSAGES)
    if unknown:
        parser.error(f"no faults of Messages: {', '.join(sorted(unknown))}")
    names = drawn(given.draw, given.seed) if given.draw else given.faults or OF_MESSAGES
    installed()
    with (
        launch(f"{sys.executable} -m wireproof_mocks.miniatures", env=SETTINGS) as served,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        root = served.base_url.removesuffix("/v1")
        account = {"key": KEY, "model": "codex"}
        columns = pool.map(lambda client: effects(client, names, root, account), MEASURED)
        found = dict(zip((client.name for client in MEASURED), columns, strict=True))
    for name in names:
        sys.stdout.write(f"{FAULTS[name].breaks} {name}\n")
        for client, column in found.items():
            sys.stdout.write(f"    {client}: {'; '.join(column[name]) or 'as usual'}\n")


if __name__ == "__main__":
    main()
