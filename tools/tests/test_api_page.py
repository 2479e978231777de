from __future__ import annotations

from importlib import import_module

import pytest

from wireproof_pages.api_page import PACKAGES, api_page

LINES = api_page().splitlines()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_a_section_in_its_package(package: str) -> None:
    names = [name for name in import_module(package).__all__ if not name.startswith("__")]
    assert [line for line in LINES if line.startswith(f"### {package}.")] == [f"### {package}.{name}" for name in names]


def test_a_field_has_its_type_and_the_docstring_below_it() -> None:
    assert "| `date` | `str` | A day in ISO form; it names the edition. |" in LINES


def test_a_function_has_its_parameters_and_what_it_raises() -> None:
    start = LINES.index("### wireproof.plan")
    section = LINES[start : next(at for at in range(start + 1, len(LINES)) if LINES[at].startswith("### "))]
    assert any(line.startswith("plan(") for line in section)
    assert "Raises:" in section
    assert any(line.startswith("- OptionError: ") for line in section)


def test_an_example_with_an_empty_line_in_it_is_one_block_of_code() -> None:
    start = LINES.index("from wireproof import RunOptions, TargetOptions, plan")
    assert LINES[start - 1 : start + 5].count("```") == 1
    assert LINES[start + 1] == ""


def test_what_is_private_is_not_there() -> None:
    assert [line for line in LINES if line.startswith(("- `_", "| `_"))] == []
