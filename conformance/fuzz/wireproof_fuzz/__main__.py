"""`python -m wireproof_fuzz`: judge mutants, and print each that Wireproof dies of.

judge --from 1 --mutants 20000    judge so many, and print a line for each defect with the first mutant that shows it
judge --from 4711 --mutants 1     one of them again, with all that is known of its end
record                            record the endpoint with a model again, of whose answers mutants are made
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from wireproof_fuzz.judged import death_of


def main() -> int:
    """Do what the arguments say."""
    parser = argparse.ArgumentParser(
        prog="wireproof_fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    judge = commands.add_parser("judge")
    judge.add_argument("--from", type=int, default=1, dest="first", help="the number of the first")
    judge.add_argument("--mutants", type=int, default=1000, help="how many")
    commands.add_parser("record")
    given = parser.parse_args()
    if given.command == "record":
        from wireproof_fuzz.recording_model import record  # noqa: PLC0415 (it needs the endpoint of the tests)

        record()
        return 0
    return _judge(range(given.first, given.first + given.mutants))


def _judge(numbers: range) -> int:
    ends: Counter[str] = Counter()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for death in filter(None, pool.map(death_of, numbers, chunksize=25)):
            if not ends[death.where]:
                print(death.said, flush=True)
            ends[death.where] += 1
    for where, times in ends.most_common():
        print(f"{times:6}  {where}")
    print(f"{len(numbers)} mutants, {ends.total()} deaths")
    return 1 if ends else 0


if __name__ == "__main__":
    sys.exit(main())
