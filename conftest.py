"""How much the tests play, and how soon the mocks that they start answer: at once, if WIREPROOF_PACE is unset.

`--hypothesis-profile` names how many examples of properties are tried; `--whole` plays every scenario over miniatures,
and runs the tests that are marked `nightly`, and all cases of those that are marked `sampled`. A file that is marked
so (`pytestmark = pytest.mark.sampled(8)`) has so many tests for a change. What is chosen by name, with `-k` or as
`FILE::TEST`, is run in any case.

`@pytest.mark.each(names, values, ids=…)` takes what `@pytest.mark.parametrize` takes, and makes one test item that goes
over all cases: to collect and report an item costs some milliseconds, most cases some microseconds. All cases are run,
and each that fails is reported under its id. The cases of one item share its fixtures.
With `--one-by-one` each case is an item again: `pytest FILE --one-by-one -k CASE` runs one, also under a debugger.
"""

from __future__ import annotations

import gc
import itertools
import os
import reprlib
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

try:
    from hypothesis import settings
except ModuleNotFoundError:
    # Where Wireproof is installed as editable, some versions of pytest read this file for `--pyargs wireproof.suites`,
    # too. What the tests of Wireproof itself need is not in such an environment.
    pass
else:
    # No deadlines: the tests share their cores with servers and with each other.
    settings.register_profile("change", max_examples=30, deadline=None)
    settings.register_profile("whole", max_examples=60, deadline=None)
    settings.register_profile("dev", max_examples=200, deadline=None)
    settings.register_profile("nightly", max_examples=10_000, deadline=None)
    settings.load_profile("dev")  # what `--hypothesis-profile` names is loaded after this, before tests are imported

os.environ.setdefault("WIREPROOF_PACE", "0")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--whole`, which the nightly run gives."""
    parser.addoption(
        "--whole",
        action="store_true",
        help="play every scenario in which a miniature may differ from the faultless proxy, not a sample of them",
    )
    parser.addoption(
        "--one-by-one",
        action="store_true",
        help="make an item of each case of the tests that go over many, so that -k can choose one",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks of tests that are too long for every change, and of those that go over many cases."""
    config.addinivalue_line("markers", "nightly: run with --whole alone, as the nightly run does")
    config.addinivalue_line("markers", "sampled(count): for a change so many cases or tests, with --whole all")
    config.addinivalue_line("markers", "each(names, values, ids=None): go over these cases within one item")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the items out of the collection of garbage: they stay, and to go through them took 8 % of a run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out, and count as deselected, what is for the nightly run, unless it was chosen by name."""
    named = config.getoption("keyword", default="") or any("::" in one for one in config.args)
    if named or config.getoption("whole", default=False):
        return
    kept = [one for one in items if not one.get_closest_marker("nightly")]
    kept = _sample(_sample(kept, pytest.Function), pytest.Module)
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=[*({*items} - {*kept})])
        items[:] = kept


def _sample(items: Sequence[pytest.Item], marked: type[pytest.Item | pytest.Collector]) -> list[pytest.Item]:
    """All but those that a mark `sampled` of such a node leaves out: it keeps so many of its items, evenly spread."""
    groups: dict[tuple[Path, str, int], list[pytest.Item]] = {}
    for one in items:
        for node, mark in one.iter_markers_with_node("sampled"):
            if isinstance(node, marked):
                name = "" if node is not one else one.name.partition("[")[0]
                groups.setdefault((one.path, name, mark.args[0]), []).append(one)
    left_out: set[pytest.Item] = set()
    for (_, _, count), group in groups.items():
        left_out |= {*group} - {group[len(group) * number // count] for number in range(count)}
    return [one for one in items if one not in left_out]


# Tests that go over many cases


class _Case(NamedTuple):
    id: str
    arguments: Mapping[str, object]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make an item of each case, or one item in which the cases' arguments are still to be filled in."""
    for mark in metafunc.definition.iter_markers("each"):
        if metafunc.config.getoption("one_by_one", default=False):
            metafunc.parametrize(*mark.args, **mark.kwargs)
        else:
            names = _names(mark)
            metafunc.parametrize(names, [(None,) * len(names)], ids=[pytest.HIDDEN_PARAM])


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test over all its cases; then fail if any did, with all that did."""
    marks = list(pyfuncitem.iter_markers("each"))
    if not marks or pyfuncitem.config.getoption("one_by_one", default=False):
        return None
    cases = list(_cases(marks))
    if not cases:
        pytest.fail("there is no case, so nothing would be asserted", pytrace=False)
    wanted = pyfuncitem._fixtureinfo.argnames  # noqa: SLF001 (what pytest itself calls a test with)
    fixtures = {name: pyfuncitem.funcargs[name] for name in wanted}
    failures = [(case.id, said) for case in cases if (said := _failure(pyfuncitem.obj, fixtures, case))]
    if failures:
        first = f"{len(failures)} of {len(cases)} cases failed: {', '.join(name for name, _ in failures)}"
        pytest.fail("\n\n".join([first, *(f"[{name}] {said}" for name, said in failures)]), pytrace=False)
    return True


def _failure(test: Callable[..., object], fixtures: Mapping[str, object], case: _Case) -> str:
    """What is to be reported of a case: nothing if it passes."""
    __tracebackhide__ = True
    try:
        test(**{**fixtures, **case.arguments})
    except pytest.skip.Exception as skipped:  # let through, it would skip the cases behind it, too
        return f"cannot be skipped ({skipped}): leave it out of the cases"
    except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 (whatever a test raises is its failure)
        return str(pytest.ExceptionInfo.from_exception(error).getrepr(style="short"))
    return ""


def _names(mark: pytest.Mark) -> list[str]:
    names = mark.args[0]
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def _cases(marks: Iterable[pytest.Mark]) -> Iterator[_Case]:
    """The product of several marks, as that of several `parametrize`."""
    for together in itertools.product(*map(_cases_of, marks)):
        arguments = {name: value for case in together for name, value in case.arguments.items()}
        yield _Case("-".join(case.id for case in together), arguments)


def _cases_of(mark: pytest.Mark) -> Iterator[_Case]:
    names, ids = _names(mark), mark.kwargs.get("ids")
    given = list(mark.args[1])
    own = [None] * len(given) if ids is None or callable(ids) else ids
    for one, name in zip(given, own, strict=True):
        case = one if isinstance(one, _WITH_ID) else pytest.param(*(one if len(names) > 1 else [one]), id=name)
        yield _Case(str(case.id or _id(case.values, ids)), dict(zip(names, case.values, strict=True)))


def _id(values: Sequence[object], ids: Callable[[object], object] | None) -> str:
    """An id for a case that has none: what its function says of the values, or how they are written in short."""
    return "-".join(str(ids(value)) if ids else reprlib.repr(value) for value in values)


_WITH_ID = type(pytest.param())
