"""What real clients do with answers that break a requirement: measured, and compared with what is pinned, or written.

`python conformance/clients/tests/measure.py [--write]`
"""

from __future__ import annotations

import json
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from behaviours import MEASURED as PINNED
from behaviours import Behaviour, answers, behaviours
from measuring import MEASURED, Effects, measure

from clients import INSTALLED, installed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HEAD = """\
# What real clients do with answers that break a requirement, written by `conformance/clients/tests/measure.py --write`.
# A new form is an entry without effects; `fault` is the miniature that has it, else behaviours.py makes it of a right
# answer. A client that is not named does as with the right answer.
"""


def versions() -> dict[str, str]:
    """Package → the version that is installed here."""
    return {one: _version(one) for one in sorted({package for client in MEASURED for package in client.packages})}


def _version(package: str) -> str:
    registry, _, name = package.partition(":")
    if registry == "pypi":
        return version(name)
    described = json.loads((INSTALLED / "node_modules" / name / "package.json").read_text(encoding="utf-8"))
    return str(described["version"])


def pinned_versions() -> dict[str, str]:
    """Package → the version that was measured."""
    table: dict[str, str] = tomllib.loads(PINNED.read_text(encoding="utf-8"))["versions"]
    return table


def differences(every: list[Behaviour], found: Effects) -> Iterator[str]:
    """A sentence for each client that does something else than is pinned."""
    for one in every:
        now = found[one.requirement, one.form]
        for client in sorted({*now, *one.effects}):
            before, after = one.effects.get(client, "as usual"), now.get(client, "as usual")
            if before != after:
                yield f"{one.requirement}, {one.form}: {client}: {after}; pinned is: {before}"


def written(every: list[Behaviour], found: Effects, packages: Mapping[str, str]) -> str:
    """The file."""
    lines = [HEAD, "[versions]", *(f"{json.dumps(name)} = {json.dumps(one)}" for name, one in packages.items())]
    for one in every:
        lines += ["", "[[form]]", *(f"{key} = {json.dumps(value)}" for key, value in _fields(one)), "[form.effects]"]
        effects = found[one.requirement, one.form]
        lines += [f"{json.dumps(client)} = {json.dumps(effects[client])}" for client in sorted(effects)]
    return "\n".join(lines) + "\n"


def _fields(one: Behaviour) -> Iterator[tuple[str, str]]:
    for name in ("requirement", "form", "surface", "mode", "scenario", "fault"):
        if value := str(getattr(one, name)):
            yield name, value


def main() -> int:
    """Measure; 1 if anything is not as it is pinned, and it was not to be written."""
    installed()
    every = behaviours()
    found = measure(answers(every))
    differing = list(differences(every, found))
    sys.stdout.writelines(f"{one}\n" for one in differing)
    if "--write" in sys.argv:
        Path(str(PINNED)).write_text(written(every, found, versions()), encoding="utf-8")
        return 0
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
