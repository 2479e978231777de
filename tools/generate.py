"""Write what is made from data: pages of `docs/`, tables in other pages, schemas; or --check all of it.

    python tools/generate.py [--check | --freeze]

The data: the requirement catalogue, the scenarios, the miniatures, which lines of the source texts are normative, which
of them personas and mocks hold, the tables of the mock's fidelity, the definitions of the steps of scripts; for tables
in README.md and in pages written by hand, the options and exit statuses of `wireproof certify`, the settings of the
reference proxy, the mock's versions and the imports between packages; for `api.md`,
`__all__` of the packages that programs import; for `schemas/wireproof/`, the fields of a
requirement, the steps of scripts, the form of a result and the options of a target file.
--freeze writes the catalogue as the edition of its date, which must have no other rows yet.
Exit status 0 when the pages are written or up to date, 1 when --check finds one that is not.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parents[1] / "mocks" / "tests" / "fidelity"))  # no part of the wheel

from wireproof_fidelity.page import fidelity_page, versions_text
from wireproof_fidelity.table import load_differential, load_replays

from wireproof.model import editions
from wireproof.model.catalogue import Citation, load
from wireproof.model.editions import frozen_text
from wireproof.model.rows import schema
from wireproof.results.folder import schema as report_schema
from wireproof.scenarios import SCENARIOS
from wireproof.scenarios.judged_clients import CLIENT_SCENARIOS
from wireproof.targets.target_file import schema as target_schema
from wireproof_mocks.clients import FAULTS as CLIENT_FAULTS
from wireproof_mocks.miniatures import FAULTS
from wireproof_pages.api_page import api_page
from wireproof_pages.catalogue_pages import catalogue_pages
from wireproof_pages.client_tables import endpoint_clients_table, judged_clients_table
from wireproof_pages.drawing import drawing
from wireproof_pages.editions_page import editions_page
from wireproof_pages.manual import TABLES, blocks, filled
from wireproof_pages.proof_pages import Held, Proofs, SourceText, requirements_page, source_page
from wireproof_pages.steps_page import steps_page
from wireproof_proxy.settings import settings_table
from wireproof_scripts.files.schema import file_schema
from wireproof_scripts.files.schema import schema as script_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FOLDER = Path(__file__).resolve().parents[1] / "docs"
EDITIONS = FOLDER.parent / "conformance" / "wireproof" / "requirements" / "editions"
SOURCES = FOLDER.parent / "conformance" / "tests" / "sources"
_CRITERION = re.compile(r"(\d+)\. \*\*(.+?):?\*\*")


def proofs() -> Proofs:
    """The catalogue, the scenarios, and the miniatures by the requirement that kills them."""
    kills: dict[str, list[str]] = {}
    for fault in FAULTS.values():
        kills.setdefault(fault.breaks, []).append(fault.name)
    for name, client in CLIENT_FAULTS.items():
        kills.setdefault(client.breaks, []).append(name)
    return Proofs(catalogue=load(), scenarios=(*SCENARIOS, *CLIENT_SCENARIOS), kills=kills, held=held())


def held() -> tuple[Held, ...]:
    """What personas and mocks hold, of the source texts that ask something of a client or of a backend."""
    table = tomllib.loads((SOURCES / "held.toml").read_text(encoding="utf-8"))
    # Grouped by the test: most show several lines.
    return tuple(
        Held(source=Citation(seed=group["seed"], line=line, quote=quote), by=group["by"], test=group["test"])
        for group in table["held"]
        for line, quote in group["lines"]
    )


def source_names() -> list[str]:
    """The texts of which every normative line is held, in the order of the catalogue."""
    return [name for name in load().seeds if (SOURCES / f"{name}.txt").is_file()]


def source_text(name: str) -> SourceText:
    """A text that rows cite, its normative lines, and the numbers and names of its acceptance criteria."""
    text = (SOURCES / f"{name}.txt").read_text(encoding="utf-8").split("\n")
    groups = tomllib.loads((SOURCES / "normative.toml").read_text(encoding="utf-8"))[name]
    lines = {line: text[line - 1] for group in groups.values() for line in group}
    found = {line: _CRITERION.match(words) for line, words in lines.items()}
    called = {line: f"criterion {match[1]}, {match[2]}" for line, match in found.items() if match}
    return SourceText(name=name, title=load().seeds[name], lines=lines, called=called if "criteria" in groups else {})


def pages() -> Mapping[str, str]:
    """File name → text of every page."""
    data = proofs()
    sources = {f"sources/{name}.md": source_page(source_text(name), data) for name in source_names()}
    fidelity = fidelity_page(load_replays(), load_differential())
    return {
        "requirements.md": requirements_page(data),
        "editions.md": editions_page([editions.at(date) for date in editions.dates()], load()),
        **catalogue_pages(data),
        **sources,
        "fidelity.md": fidelity,
        "script-steps.md": steps_page(),
        "api.md": api_page(),
    }


def schemas() -> Mapping[str, str]:
    """File name → text of every schema of ours that is made from definitions; that of scenarios refers to these."""
    every = {
        "requirement.json": schema(),
        "script.json": script_schema(),
        "scripts.json": file_schema(),
        "report.json": report_schema(),
        "target.json": target_schema(),
    }
    return {name: json.dumps(one, ensure_ascii=False, indent=2) + "\n" for name, one in every.items()}


def texts() -> Mapping[Path, str]:
    """Path → text of every page and schema, and of every page written by hand that has a table from data."""
    folder = FOLDER.parent / "schemas" / "wireproof"
    generated = {FOLDER / name: text for name, text in pages().items()}
    generated |= {folder / name: text for name, text in schemas().items()}
    by_hand = {path: path.read_text(encoding="utf-8") for path in _by_hand() if path not in generated}
    tables: Mapping[str, Callable[[], str]] = {
        **TABLES,
        "packages": drawing,
        "settings": settings_table,
        "versions": versions_text,
        "judged-clients": judged_clients_table,
        "endpoint-clients": endpoint_clients_table,
    }
    return generated | {path: filled(text, tables) for path, text in by_hand.items() if blocks(text, tables)}


def _by_hand() -> list[Path]:
    readme = FOLDER.parent / "README.md"
    return [*([readme] if readme.is_file() else []), *sorted(FOLDER.glob("*.md"))]


def stale() -> list[Path]:
    """The pages whose file is missing or says something else."""
    return [path for path, text in texts().items() if _written(path) != text]


def _written(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def freeze() -> None:
    """Write the catalogue as the edition of its date."""
    path, text = EDITIONS / f"{load().date}.json", frozen_text(load())
    if path.is_file() and path.read_text(encoding="utf-8") != text:
        raise SystemExit(f"{path.name} is frozen with other rows; give the catalogue a new date in catalogue.toml")
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Write the pages and schemas, or check them."""
    parser = argparse.ArgumentParser(
        description="Write the generated pages of docs/ and schemas of schemas/wireproof/."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is out of date")
    parser.add_argument("--freeze", action="store_true", help="also write the catalogue as the edition of its date")
    given = parser.parse_args(arguments)
    if given.freeze:
        freeze()
    if not given.check:
        for path, text in texts().items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return 0
    old = stale()
    for path in old:
        sys.stderr.write(f"{path.relative_to(FOLDER.parent)} is out of date; run python tools/generate.py\n")
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
