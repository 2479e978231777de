"""What the wheel carries besides the packages: what the suite reads, and nothing that only tests read."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

ROOT = Path(__file__).parents[2]
WHEEL = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"][
    "wheel"
]
INSTALLED = Path(str(resources.files("wireproof"))) / "_data"


def test_the_wheel_gets_the_schemas_and_the_stored_answers_and_no_other_data() -> None:
    assert set(WHEEL["force-include"]) == {"schemas", "snapshots/answers"}
    assert all((ROOT / name).is_dir() for name in WHEEL["force-include"])


def test_no_package_of_the_wheel_lies_among_tests() -> None:
    assert all("tests" not in Path(name).parts for name in WHEEL["packages"])
    assert all((ROOT / name / "__init__.py").is_file() for name in WHEEL["packages"])


def test_an_installation_has_what_was_included_and_nothing_else() -> None:
    # An editable installation has no data of its own: it reads the repository's.
    files = [path.relative_to(INSTALLED) for path in INSTALLED.rglob("*") if path.is_file()]
    found = {"/".join(path.parts[:2]) for path in files}
    expected = {"schemas/wireproof", "schemas/codex", "schemas/openai", "snapshots/answers"}
    assert found in (set(), expected)
