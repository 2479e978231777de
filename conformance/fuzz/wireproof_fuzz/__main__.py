"""`python -m wireproof_fuzz`: make mutants, and print each that Wireproof dies of.

judge --count 20000           judge so many recorded answers that were changed
drive --count 300             certify so many targets that spoil answers
read --count 300              have all commands read so many results that were damaged
judge --from 4711 --count 1   one of them again, with all that is known of its end
record                        record the endpoint with a model again, of whose answers mutants are made

For each defect the first mutant that shows it is printed. Without --from the numbers begin with those of the day, so
that each night has others.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

from live_endpoint import KEY, MODEL, serving
from live_goods import OPENAI

from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.target import Backend, Target
from wireproof.results.archive import save
from wireproof.results.certify import certify
from wireproof.scenarios.live import LIVE
from wireproof_fuzz.damaged_files import death_of_file
from wireproof_fuzz.driven import death_of_run
from wireproof_fuzz.judged import death_of
from wireproof_fuzz.mutants import OF_A_MODEL

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_fuzz.judged import Death

A_DAY = 86_400
APART = 1_000_000
"""How far the numbers of one day lie behind those of the day before."""


def main() -> int:
    """Do what the arguments say."""
    parser = argparse.ArgumentParser(
        prog="wireproof_fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, of_one, chunk in (("judge", death_of, 25), ("drive", death_of_run, 1), ("read", death_of_file, 1)):
        command = commands.add_parser(name)
        command.set_defaults(of_one=of_one, chunk=chunk)
        command.add_argument("--from", type=int, default=int(time.time()) // A_DAY * APART, dest="first")
        command.add_argument("--count", type=int, default=1000)
    commands.add_parser("record")
    given = parser.parse_args()
    if given.command == "record":
        record()
        return 0
    return _all(given.of_one, range(given.first, given.first + given.count), given.chunk)


def record() -> None:
    """Drive an endpoint without a defect, with every optional field that OpenAI sends, and keep the answers."""
    with serving(OPENAI) as server:
        target = Target(
            base_url=server.url(OPENAI.name), model=MODEL, api_key=KEY, backend=Backend.LIVE,
            dialects=(Dialect.OPENAI_JSON, Dialect.RESPONSES),
        )  # fmt: skip
        certificate = certify(target, LIVE, load())
    save(OF_A_MODEL, certificate.target, certificate.runs)


def _all(of_one: Callable[[int], Death | None], numbers: range, chunk: int) -> int:
    ends: Counter[str] = Counter()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for death in filter(None, pool.map(of_one, numbers, chunksize=chunk)):
            if not ends[death.where]:
                print(death.said, flush=True)
            ends[death.where] += 1
    for where, times in ends.most_common():
        print(f"{times:6}  {where}")
    print(f"{len(numbers)} from {numbers.start} on, {ends.total()} deaths")
    return 1 if ends else 0


if __name__ == "__main__":
    sys.exit(main())
