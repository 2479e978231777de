"""Who may import whom: the table of the design, held against what the source says.

Every module of `assay` is pure unless it is listed here with a reason, so a new module is pure by default.
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
    "assay.__main__": "starts the command line",
    "assay.driving": "sends requests, on the event loop's clock",
    "assay.faces": "command line, pytest plugin, server",
    "assay.report.explain": "prints on a terminal",
    "assay.report.head": "prints on a terminal",
    "assay.report.lines": "prints on a terminal",
    "assay.report.page": "fills in a template with Jinja2",
    "assay.report.phrases": "styles words for a terminal",
    "assay.report.site": "fills in templates with Jinja2",
    "assay.report.templates": "reads the templates of the installation",
    "assay.report.progress": "prints on a terminal, and takes the time",
    "assay.report.terminal": "prints on a terminal",
    "assay.results.archive": "writes and reads files",
    "assay.results.certify": "drives a target and takes the time",
    "assay.results.folder": "writes and reads files, and asks what runs here",
    "assay.results.sealed": "packs and unpacks archives in memory, in the forms of files",
    "assay.targets.bundled": "starts the reference proxy",
    "assay.targets.capabilities": "asks a Codex binary for its version",
    "assay.targets.cursor_agent": "starts a mock of Cursor's agent service",
    "assay.targets.gateway": "starts an upstream and a gateway",
    "assay.targets.interrupts": "handles signals",
    "assay.targets.launch": "starts proxies",
    "assay.targets.orphans": "has the system end a process with its parent",
    "assay.targets.ports": "looks which ports are free",
    "assay.targets.preflight": "sends requests",
    "assay.targets.probe": "sends one request, and takes its time",
    "assay.targets.reach": "finds out what a target is, or starts it",
    "assay.targets.real_codex": "starts a model's service and a Codex",
    "assay.targets.serving": "looks whether a port is free",
    "assay.targets.trust": "makes what a connection is verified by",
    "assay.targets.unready_instance": "starts a second proxy",
}
"""Module or folder → what it does with the world outside. Nothing pure may import one of these."""
READERS: Mapping[str, str] = {
    "assay.judging.known_failing": "reads a file of known failures",
    "assay.judging.stored_answers": "reads the stored answers of the installation",
    "assay.model.catalogue": "reads the rows of the installation",
    "assay.model.editions": "reads the frozen rows of the installation",
    "assay.reading.schemas": "reads the JSON Schemas of the installation, and validates with jsonschema",
    "assay.targets.address": "parses URLs as httpx does, and sends nothing",
    "assay.targets.kinds": "reads the environment variables that a person names, and looks whether files exist",
    "assay.targets.target_file": "reads a target file",
}
"""Module → what it reads or borrows when it is called (never at import). What is pure may import these."""

ACTS = frozenset({
    "_thread", "asyncio", "builtins.input", "builtins.open", "builtins.print", "concurrent", "ctypes", "fcntl",
    "fileinput", "ftplib", "getpass", "glob", "http", "importlib.resources", "io.open", "logging", "mmap",
    "multiprocessing", "os", "pathlib", "pty", "queue", "random", "runpy", "sched", "secrets", "select", "selectors",
    "shelve", "shutil", "signal", "smtplib", "socket", "socketserver", "sqlite3", "ssl", "subprocess", "sys",
    "tempfile", "termios", "threading", "time", "tomllib.load", "urllib", "uuid", "webbrowser", "zipfile",
})  # fmt: skip
"""Of the standard library: what reads or writes, waits, starts something, or gives another value each time."""
HARMLESS = frozenset({"urllib.parse", "pathlib.PurePath", "pathlib.PurePosixPath"})

MAY_IMPORT: Mapping[str, tuple[str, ...]] = {
    "assay": ("assay", "assay_scripts"),
    "assay.wire": ("assay.wire",),
    "assay.model": ("assay.model", "assay.wire.violation"),
    "assay.judging": ("assay.judging", "assay.model", "assay.wire", "assay.reading"),
    "assay_scripts": ("assay_scripts",),
    "assay_codex": ("assay_codex", "assay_scripts"),
    "assay_mocks": ("assay_mocks", "assay_scripts", "assay_proxy"),
    "assay_mocks.upstream": ("assay_mocks.upstream", "assay_scripts"),
    "assay_mocks.miniatures": ("assay_mocks.miniatures", "assay_proxy"),
    "assay_cursor": ("assay_cursor", "assay_scripts", "assay_cursor_protos"),
    "assay_mocks.personas": ("assay_mocks.personas", "assay_scripts"),
    "assay_cursor_protos": ("assay_cursor_protos",),
    # It is judged by the suite as any proxy is; what it takes of the reference proxy reads requests and writes answers.
    "assay_endpoint": (
        "assay_endpoint",
        "assay_scripts",
        "assay_proxy.answers.asked_models",
        "assay_proxy.answers.chat",
        "assay_proxy.answers.demand",
        "assay_proxy.answers.plan",
        "assay_proxy.answers.responses",
        "assay_proxy.answers.stored_responses",
        "assay_proxy.assembly",
        "assay_proxy.conversation",
        "assay_proxy.errors",
        "assay_proxy.events",
        "assay_proxy.http.body",
        "assay_proxy.http.cors",
        "assay_proxy.random_ids",
        "assay_proxy.surfaces",
        "assay_proxy.tools",
    ),
    "assay_proxy": ("assay_proxy", "assay_cursor_protos"),
}
"""Package → all that it may import of this repository's packages."""
BESIDES: Mapping[str, str] = {
    "assay.faces.persona -> assay_mocks.personas": "the command starts a client, which knows nothing of the suite",
    "assay.reading.playable -> assay_mocks.upstream.playable": "what a model's service can play is known there",
    "assay.reading.playable -> assay_cursor.playable": "what Cursor's agent service can play is known there",
    "assay.targets.cursor_agent -> assay_cursor": "a proxy in front of Cursor is judged with this service behind it",
    "assay.faces.listening -> assay_endpoint": "both of the next two listen as it does",
    "assay.faces.record -> assay_endpoint": "the command starts a recording endpoint, which judges nothing",
    "assay.faces.serve -> assay_endpoint": "it is what `assay serve` serves; this module judges nothing",
    "assay.targets.real_codex -> assay_mocks.upstream": "a real Codex is judged with this service as its model",
}
"""Arrows that the table does not have, and why they are there."""


def packages() -> dict[str, Path]:
    """The folder of each package in the source roots, by the package's name."""
    heads = [head for root in ROOTS for head in (REPOSITORY / root).glob("assay*/__init__.py")]
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
    return imports_of("assay", PACKAGES["assay"], types=False)


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
        "assay.targets.address": "httpx",
        "assay.targets.kinds": "os",
        "assay.targets.refusals": "httpx",
    }  # see READERS for what they take of it
    readers = {module: suite()[module] - {borrowed.get(module, "")} for module in READERS}
    reads = under("pathlib", "importlib.resources", "tomllib", "jsonschema", "jsonschema_rs", "referencing")
    assert offences(readers, lambda name: (acts(name) and not reads(name)) or under(*EDGES)(name)) == []


@pytest.mark.parametrize("listed", [*EDGES, *READERS])
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
        if not any(module == start and under(end)(name) for start, end in besides)
    ]
    assert found == []


@pytest.mark.parametrize("arrow", BESIDES)
def test_an_arrow_besides_the_table_is_still_there(arrow: str) -> None:
    start, _, end = arrow.partition(" -> ")
    assert any(under(end)(name) for name in ours()[start])


def test_the_wire_imports_nothing_of_third_parties() -> None:
    wire = {module: names for module, names in ours().items() if under("assay.wire")(module)}
    assert offences(wire, lambda name: not of_ours(name) and name.partition(".")[0] not in STANDARD) == []


@pytest.mark.parametrize(
    ("source", "package", "names"),
    [
        ("import os.path, sys", False, {"os.path", "sys"}),
        ("from assay_proxy import app as x, chat", False, {"assay_proxy.app", "assay_proxy.chat"}),
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
        ("json", False), ("functools.cache", False), ("assay.wire.sse", False), ("__future__.annotations", False),
    ],
)  # fmt: skip
def test_what_acts_on_the_world_is_known(name: str, *, does: bool) -> None:
    assert acts(name) is does
