"""Who may import whom: the table of the design, held against what the source says.

Every module of `wireproof` is pure unless it is listed here with a reason, so a new module is pure by default.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
ROOTS = ("conformance", "mocks", "reference_proxy")
STANDARD = sys.stdlib_module_names

EDGES: Mapping[str, str] = {
    "wireproof.__main__": "starts the command line",
    "wireproof.driving": "sends requests, on the event loop's clock",
    "wireproof.cli": "command line, server",
    "wireproof.clients": "starts clients, and serves the endpoint that they ask",
    "wireproof.pytest_plugin": "runs under pytest, and locks a folder that its workers share",
    "wireproof.report.explain": "prints on a terminal",
    "wireproof.report.head": "prints on a terminal",
    "wireproof.report.lines": "prints on a terminal",
    "wireproof.report.page": "reads the templates of the installation, and fills one in with Jinja2",
    "wireproof.report.phrases": "styles words for a terminal",
    "wireproof.report.site": "fills in templates with Jinja2",
    "wireproof.report.progress": "prints on a terminal, and takes the time",
    "wireproof.report.terminal": "prints on a terminal",
    "wireproof.results.archive": "writes and reads files",
    "wireproof.results.certify": "drives a target and takes the time",
    "wireproof.results.folder": "writes and reads files, and asks what runs here",
    "wireproof.results.sealed": "packs and unpacks archives in memory, in the forms of files",
    "wireproof.suites.client.test_client": "runs a client under pytest",
    "wireproof.targets.budget": "waits as long as a target, or the rate of a run, asks",
    "wireproof.targets.bundled": "starts the reference proxy",
    "wireproof.targets.codex": "asks a Codex binary for its version, and starts a model's service",
    "wireproof.targets.clients": "a part of what sends, and what a connection is verified by",
    "wireproof.targets.cursor_agent": "starts a mock of Cursor's agent service",
    "wireproof.targets.gateway": "starts an upstream and a gateway, and writes a home that is thrown away",
    "wireproof.targets.interrupts": "handles signals",
    "wireproof.targets.launch": "starts proxies, and has the system end each with its parent",
    "wireproof.targets.ports": "looks which ports are free",
    "wireproof.targets.preflight": "sends requests",
    "wireproof.targets.probe": "sends one request, and takes its time",
    "wireproof.targets.reach": "finds out what a target is, or starts it",
    "wireproof.targets.unready_instance": "starts a second proxy",
}
"""Module or folder → what it does with the world outside. Nothing pure may import one of these."""
READERS: Mapping[str, str] = {
    "wireproof.judging.known_failing": "reads a file of known failures",
    "wireproof.judging.stored_answers": "reads the stored answers of the installation",
    "wireproof.model.catalogue": "reads the rows of the installation",
    "wireproof.model.editions": "reads the frozen rows of the installation",
    "wireproof.reading.schema_errors": "validates with jsonschema-rs",
    "wireproof.reading.schemas": "reads the JSON Schemas of the installation",
    "wireproof.targets.kinds": "reads the environment variables that a person names, and looks whether files exist",
    "wireproof.targets.target_file": "reads a target file",
    "wireproof.targets.validity": "parses URLs as httpx does, and sends nothing",
}
"""Module → what it reads or borrows when it is called (never at import). What is pure may import these."""

_FILES = "wireproof_scripts.files.regular"
"""What reads the files that a person names."""
ACTS = frozenset({
    "_thread", "asyncio", "builtins.input", "builtins.open", "builtins.print", "concurrent", "ctypes", "fcntl",
    "fileinput", "ftplib", "getpass", "glob", "http", "importlib.resources", "io.open", "logging", "mmap",
    "multiprocessing", "os", "pathlib", "pty", "queue", "random", "runpy", "sched", "secrets", "select", "selectors",
    "shelve", "shutil", "signal", "smtplib", "socket", "socketserver", "sqlite3", "ssl", "subprocess", "sys",
    "tempfile", "termios", "threading", "time", "tomllib.load", "urllib", "uuid", "webbrowser", _FILES,
    "zipfile",
})  # fmt: skip
"""Of the standard library, and of ours: what reads, writes, waits, starts something, or is another value each time."""
HARMLESS = frozenset({"pathlib.PurePath", "pathlib.PurePosixPath", "pydantic", "pydantic_core", "urllib.parse"})
"""What of `ACTS` and of third parties does not act: it takes paths and URLs apart, and validates values."""

MAY_IMPORT: Mapping[str, tuple[str, ...]] = {
    "wireproof": ("wireproof", "wireproof_scripts"),
    "wireproof.wire": ("wireproof.wire",),
    "wireproof.model": ("wireproof.model", "wireproof.wire.violation", "wireproof.wire.facet"),
    "wireproof.judging": ("wireproof.judging", "wireproof.model", "wireproof.wire", "wireproof.reading"),
    "wireproof_scripts": ("wireproof_scripts",),
    "wireproof_codex": ("wireproof_codex", "wireproof_scripts"),
    "wireproof_mocks": (
        "wireproof_mocks",
        "wireproof_endpoint",
        "wireproof_scripts",
        "wireproof_proxy",
        "wireproof_surfaces",
    ),
    "wireproof_mocks.upstream": (
        "wireproof_mocks.upstream",
        "wireproof_endpoint",
        "wireproof_scripts",
        "wireproof_surfaces.http",
    ),
    "wireproof_mocks.miniatures": ("wireproof_mocks.miniatures", "wireproof_proxy", "wireproof_surfaces"),
    "wireproof_cursor": ("wireproof_cursor", "wireproof_scripts", "wireproof_cursor_protos"),
    "wireproof_mocks.personas": ("wireproof_mocks.personas", "wireproof_scripts"),
    "wireproof_mocks.clients": ("wireproof_mocks.clients",),
    "wireproof_cursor_protos": ("wireproof_cursor_protos",),
    # Below the proxy and the endpoint, which share it; the suite judges both and shares nothing with either.
    "wireproof_surfaces": ("wireproof_surfaces",),
    "wireproof_endpoint": ("wireproof_endpoint", "wireproof_scripts", "wireproof_surfaces"),
    # It must not be able to read the exam.
    "wireproof_proxy": ("wireproof_proxy", "wireproof_surfaces", "wireproof_cursor_protos"),
}
"""Package → all that it may import of this repository's packages."""
BESIDES: Mapping[str, str] = {
    "wireproof.clients -> wireproof_endpoint": "clients are judged at this endpoint, which judges nothing",
    "wireproof.cli.persona -> wireproof_mocks.personas": "the command starts a client that knows nothing of the suite",
    "wireproof.reading.playable -> wireproof_mocks.upstream.playable": "what a model's service can play is known there",
    "wireproof.reading.playable -> wireproof_cursor.playable": "what Cursor's agent service can play is known there",
    "wireproof.targets.cursor_agent -> wireproof_cursor": "proxies in front of Cursor are judged with this service"
    " behind",
    "wireproof.judging.known_failing -> wireproof_scripts.files.regular": "files of a person are read in one way",
    "wireproof.cli.listening -> wireproof_endpoint": "both of the next two listen as it does",
    "wireproof.pytest_plugin.plugin -> wireproof_endpoint.fixture": "one plugin has the suite and the fixture of the"
    " endpoint; this module judges nothing",
    "wireproof.cli.record -> wireproof_endpoint": "the command starts a recording endpoint, which judges nothing",
    "wireproof.cli.serve -> wireproof_endpoint": "it is what `wireproof serve` serves; this module judges nothing",
    "wireproof.targets.codex -> wireproof_mocks.upstream": "a real Codex is judged with this service as its model",
}
"""Arrows that the table does not have, and why they are there."""


def packages() -> dict[str, Path]:
    """The folder of each package in the source roots, by the package's name."""
    heads = [head for root in ROOTS for head in (REPOSITORY / root).glob("wireproof*/__init__.py")]
    return {head.parent.name: head.parent for head in sorted(heads)}


def modules(package: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """Every module of a package, by its dotted name."""
    for path in sorted(folder.rglob("*.py")):
        steps = [package, *path.relative_to(folder).with_suffix("").parts]
        yield ".".join(steps[:-1] if steps[-1] == "__init__" else steps), path


def is_for_types(node: ast.stmt) -> bool:
    """Whether a statement is `if TYPE_CHECKING:`, which never runs."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def walk(node: ast.AST, *, types: bool) -> Iterator[ast.AST]:
    """All nodes below one; without `types` not those that type checkers alone read."""
    for child in ast.iter_child_nodes(node):
        if types or not (isinstance(child, ast.stmt) and is_for_types(child)):
            yield child
            yield from walk(child, types=types)


def imported(source: str, module: str, *, package: bool = False, types: bool = True) -> set[str]:
    """What a source imports, at its head or later, by dotted names.

    `from a import b` counts as a.b, a call of `open`, `print` or `input` as an import from `builtins`, a call of a
    path's methods that read or write as one from `pathlib`: the path may come from elsewhere.
    """
    base = module.split(".") if package else module.split(".")[:-1]
    found: set[str] = set()
    for node in walk(ast.parse(source), types=types):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module=name, names=names, level=level):
                above = base[: len(base) - level + 1] if level else []
                origin = ".".join([*above, *([name] if name else [])])
                found |= {f"{origin}.{alias.name}" for alias in names}
            case ast.Call(func=ast.Name(id="open" | "print" | "input" as name)):
                found.add(f"builtins.{name}")
            case ast.Call(func=ast.Attribute(attr="read_text" | "read_bytes" | "write_text" | "write_bytes" as name)):
                found.add(f"pathlib.{name}")
    return found


def imports_of(package: str, folder: Path, *, types: bool = True) -> dict[str, set[str]]:
    return {
        name: imported(path.read_text(encoding="utf-8"), name, package=path.name == "__init__.py", types=types)
        for name, path in modules(package, folder)
    }


PACKAGES = packages()


# Read when a test asks: each worker of a parallel run imports this file, and few of them need it.
@cache
def ours() -> dict[str, set[str]]:
    """What each module of all packages imports."""
    return {module: names for name, folder in PACKAGES.items() for module, names in imports_of(name, folder).items()}


@cache
def suite() -> dict[str, set[str]]:
    """What the modules of the suite import when they run."""
    return imports_of("wireproof", PACKAGES["wireproof"], types=False)


Rule = Callable[[str], bool]


def under(*names: str) -> Rule:
    """Whether a dotted name is one of these, or inside one."""
    return lambda name: any(name == one or name.startswith(f"{one}.") for one in names)


def of_ours(name: str) -> bool:
    return under(*PACKAGES)(name)


def acts(name: str) -> bool:
    """Whether what is imported can act on the world: it is listed, or neither ours nor the standard library's."""
    if under(*HARMLESS)(name):
        return False
    top = name.partition(".")[0]
    return under(*ACTS)(name) or not (of_ours(name) or top in STANDARD or top in {"builtins", "__future__"})


def offences(modules: Mapping[str, set[str]], forbidden: Rule) -> list[str]:
    return [
        f"{module} imports {name}" for module, names in modules.items() for name in sorted(names) if forbidden(name)
    ]


def test_a_module_of_the_suite_is_pure_unless_it_is_listed() -> None:
    listed = under(*EDGES, *READERS)
    pure = {module: names for module, names in suite().items() if not listed(module)}
    assert offences(pure, lambda name: acts(name) or under(*EDGES)(name)) == []


def test_what_reads_does_nothing_else() -> None:
    borrowed = {
        "wireproof.targets.validity": "httpx",
        "wireproof.targets.kinds": "os",
    }  # see READERS for what they take of it
    readers = {module: suite()[module] - {borrowed.get(module, "")} for module in READERS}
    reads = under("pathlib", "importlib.resources", "tomllib", "jsonschema_rs", _FILES)
    assert offences(readers, lambda name: (acts(name) and not reads(name)) or under(*EDGES)(name)) == []


@pytest.mark.each("listed", [*EDGES, *READERS])
def test_what_is_listed_exists_and_acts(listed: str) -> None:
    names = {name for module, names in suite().items() if under(listed)(module) for name in names}
    assert any(acts(name) or under(*EDGES)(name) for name in names), f"{listed} is pure, or gone"


def test_every_package_has_its_row() -> None:
    assert set(PACKAGES) == {row for row in MAY_IMPORT if "." not in row}


@pytest.mark.parametrize("row", MAY_IMPORT)
def test_a_package_imports_of_ours_what_its_row_allows(row: str) -> None:
    there = {module: names for module, names in ours().items() if under(row)(module)}
    assert there
    allowed = under(*MAY_IMPORT[row])
    besides = [tuple(arrow.split(" -> ")) for arrow in BESIDES]
    found = [
        f"{module} imports {name}"
        for module, names in there.items()
        for name in sorted(names)
        if of_ours(name) and not allowed(name)
        if not any(under(start)(module) and under(end)(name) for start, end in besides)
    ]
    assert found == []


@pytest.mark.parametrize("arrow", BESIDES)
def test_an_arrow_besides_the_table_is_still_there(arrow: str) -> None:
    start, _, end = arrow.partition(" -> ")
    assert any(under(end)(name) for module, names in ours().items() if under(start)(module) for name in names)


def test_the_wire_imports_nothing_of_third_parties() -> None:
    wire = {module: names for module, names in ours().items() if under("wireproof.wire")(module)}
    assert offences(wire, lambda name: not of_ours(name) and name.partition(".")[0] not in STANDARD) == []


@pytest.mark.parametrize(
    ("source", "package", "names"),
    [
        ("import os.path, sys", False, {"os.path", "sys"}),
        ("from wireproof_proxy import app as x, chat", False, {"wireproof_proxy.app", "wireproof_proxy.chat"}),
        ("from . import sibling", False, {"a.b.sibling"}),
        ("from .. import uncle", False, {"a.uncle"}),
        ("from ..c import d", True, {"a.b.c.d"}),
        ("def f():\n    import httpx", False, {"httpx"}),
        ("def f():\n    open('x').read()", False, {"builtins.open"}),
        ("def f(path):\n    path.read_text()", False, {"pathlib.read_text"}),
        ("if TYPE_CHECKING:\n    from x.y import Z", False, {"x.y.Z"}),
    ],
)
def test_every_way_to_import_is_seen(source: str, names: set[str], *, package: bool) -> None:
    assert imported(source, "a.b.c", package=package) == names


def test_what_only_types_need_is_not_imported_when_it_runs() -> None:
    source = "import b\nif TYPE_CHECKING:\n    from x.y import Z\ndef f():\n    if TYPE_CHECKING:\n        import d"
    assert imported(source, "a", types=False) == {"b"}


@pytest.mark.parametrize(
    ("name", "does"),
    [
        ("os.environ", True), ("httpx", True), ("rich.text.Text", True), ("builtins.print", True),
        ("importlib.resources.files", True), ("urllib.request", True), ("urllib.parse.urlsplit", False),
        ("json", False), ("functools.cache", False), ("wireproof.wire.sse", False), ("__future__.annotations", False),
    ],
)  # fmt: skip
def test_what_acts_on_the_world_is_known(name: str, *, does: bool) -> None:
    assert acts(name) is does
