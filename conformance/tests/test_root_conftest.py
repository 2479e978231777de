"""The conftest.py of the repository: its mark `each`, and where a pytest reads it that is not the tests' own."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

pytestmark = pytest.mark.sampled(3)

pytest_plugins = ["pytester"]

CONFTEST = Path(__file__).parents[2] / "conftest.py"
TESTS = """
    import pytest

    RUN = []

    @pytest.fixture
    def limit():
        return 3

    @pytest.mark.each(("one", "other"), [(1, 1), (1, 2), pytest.param(3, 4, id="three")])
    @pytest.mark.each("third", [1, 2], ids=["a", "b"])
    def test_product(one, other, third, limit):
        RUN.append((one, other, third))
        assert one == other

    def test_all_cases_were_run():
        assert len(RUN) == 6

    @pytest.mark.each("number", [1, 2, 3], ids=lambda number: f"n{number}")
    @pytest.mark.parametrize("base", [0, 1])
    def test_mixed(number, base, limit):
        if number == 3 and base:
            pytest.skip("too large")
        with pytest.raises(ZeroDivisionError):
            1 / (base * (number - 2))

    @pytest.mark.each("number", range(4))
    def test_right(number, limit):
        assert number <= limit

    @pytest.mark.each("number", [])
    def test_of_nothing(number):
        raise AssertionError
"""


SAMPLED = """
    import pytest

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize("number", range(7))
    def test_many(number):
        pass

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize("number", range(2))
    def test_few(number):
        pass

    @pytest.mark.nightly
    def test_long():
        pass
"""
SAMPLED_FILE = """
    import pytest

    pytestmark = pytest.mark.sampled(3)

    @pytest.mark.sampled(2)
    @pytest.mark.parametrize("number", range(4))
    def test_many(number):
        pass

    def test_other():
        pass

    @pytest.mark.nightly
    def test_long():
        pass

    def test_last():
        pass
"""


def _inner(pytester: pytest.Pytester, *arguments: str, tests: str = TESTS) -> pytest.RunResult:
    pytester.makeconftest(CONFTEST.read_text(encoding="utf-8"))
    pytester.makepyfile(test_inner=tests)
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", *arguments)


def test_each_runs_all_cases_in_one_item_and_reports_those_that_fail(pytester: pytest.Pytester) -> None:
    run = _inner(pytester)
    run.assert_outcomes(passed=3, failed=3)
    run.stdout.fnmatch_lines(
        [
            "*= FAILURES =*",
            "4 of 6 cases failed: a-1-2, a-three, b-1-2, b-three",
            "[[]a-1-2] test_inner.py:*: in test_product",
            "E   assert 1 == 2",
            "[[]b-three] test_inner.py:*: in test_product",
            "2 of 3 cases failed: n1, n3",
            "E   Failed: DID NOT RAISE*",
            "[[]n3] cannot be skipped (too large): leave it out of the cases",
            "there is no case, so nothing would be asserted",
        ]
    )


def test_one_by_one_each_case_is_an_item(pytester: pytest.Pytester) -> None:
    run = _inner(pytester, "--one-by-one", "-k", "product and three or mixed and n2 or right")
    run.assert_outcomes(passed=6, failed=2)
    run.stdout.fnmatch_lines(["FAILED *::test_product[[]b-three]*"])


@pytest.mark.parametrize(
    ("arguments", "many", "others"),
    [
        ([], [0, 2, 4], 2),
        (["--whole"], [*range(7)], 3),
        (["-k", "many or long"], [*range(7)], 1),
        (["test_inner.py::test_many"], [*range(7)], 0),
        (["test_inner.py::test_long"], [], 1),
    ],
    ids=["change", "night", "by words", "by name", "a long one by name"],
)
def test_a_change_has_a_sample_of_many_cases_and_whoever_names_a_test_has_all_of_it(
    pytester: pytest.Pytester, arguments: list[str], many: list[int], others: int
) -> None:
    run = _inner(pytester, "-v", *arguments, tests=SAMPLED)
    assert [number for number in range(7) if f"test_many[{number}] PASSED" in run.stdout.str()] == many
    run.assert_outcomes(passed=len(many) + others, deselected=None)


def test_of_a_file_that_is_marked_so_many_of_the_tests_that_a_change_has_are_run(pytester: pytest.Pytester) -> None:
    change = _inner(pytester, "-v", tests=SAMPLED_FILE)
    assert re.findall(r"::(\S+) PASSED", change.stdout.str()) == ["test_many[0]", "test_many[2]", "test_other"]
    _inner(pytester, "--whole", tests=SAMPLED_FILE).assert_outcomes(passed=7)


def test_it_needs_neither_hypothesis_nor_an_option_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    made = runpy.run_path(str(CONFTEST))
    assert "settings" not in made
    left_out: list[Any] = []

    def pytest_deselected(items: list[Any]) -> None:
        left_out.extend(items)

    # An option that was added when pytest had read the command line is none.
    config = SimpleNamespace(
        args=[], getoption=lambda _name, default: default, hook=SimpleNamespace(pytest_deselected=pytest_deselected)
    )
    day = Mock(get_closest_marker=lambda _: None, iter_markers_with_node=lambda _: [])
    night = Mock(get_closest_marker=lambda name: name == "nightly" or None)
    items = [day, night]
    made["pytest_collection_modifyitems"](config, items)
    assert (items, left_out) == ([day], [night])
