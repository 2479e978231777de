"""The page `docs/fidelity.md`, made from the tables of fidelity."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from wireproof_codex.versions.changes import CHANGES
from wireproof_codex.versions.version import NEWEST, VERSIONS
from wireproof_fidelity.table import RECORDINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wireproof_fidelity.table import Compared, Replayed, Replays

_CODEX = RECORDINGS.parent / "codex"
"""The tests of the mock, with the recordings of its other commands."""

_HEAD = """\
# How faithful the mock of Codex is

Made by `python tools/generate.py` from `mocks/tests/fidelity/wireproof_fidelity/*.toml`; the tests hold that the tables
and the mock agree, and that no difference is listed that is no longer there.

## Recordings played again

Sessions of real servers were recorded with a scripted model behind them. The recorded client's lines are sent to the
mock, whose model says what the recorded one said; every line that comes back must be the recorded one: the same methods
in the same order, with the same fields in the same order and the same values.
"""

_RACES = """\
Ids are compared by the order in which they appear, times by their type, places in files not at all. Some recordings are
of a second process, which found the threads of a first one: `dyn_resume_b`, `stored_b`. Two messages that race in the
real server may come in either order: the answer of turn/start and the start of the turn, the start of a thread and of
its MCP servers, the end of the model's answer and a call in it. Threads that are answered at once
(`concurrent_threads`) are compared each for itself. Besides:
"""

_BREADTH = 16
_BETWEEN = """\
Of the versions between: turns of text and with a call (`text_turn`) of each, and, where something changed, how turns
fail (`failures`), busy threads and turns without input (`busy`), further requests, approvals and retries.
"""

_MEASURED = """\
Beside the two that the nightly tests run, two versions had every conversation in November 2026
(`conformance/codex/measure.py VERSION --all`); hostile are wrong results of tools:

| version | equal | hostile ones equal | what differs |
| --- | --- | --- | --- |
| 0.149.1 | 103 of 105 | 12 of 12 | `answer cut off after a call, more input`, `full-and-cut-off` |
| 0.121.0 | 98 of 100 | 12 of 12 | `answer cut off after a call, more input`, `summary interrupted` |

They had the 41 conversations with `codex exec` likewise: all are equal.

"""

_COMMANDS = """\
## codex exec

`mocks/tests/codex/exec` plays {exec_runs} recorded runs of each of {exec_versions}: the same command lines, homes and
standard input. Every line of stdout and of stderr must be the recorded one, as must the exit status and the file of
`--output-last-message`.

| what is compared | what is left out, and why |
| --- | --- |
| events of `--json`, in their order, each with all its fields | ids and durations |
| the numbers of items | the item about a model that codex does not know; those after it are lowered |
| the lines for people, with their colours | the model's provider, the path of the shell |
| what is said on stderr besides | codex's log, its warnings about its machine and its model |
| refusals of the command line | which option is most like a wrong one |
| the texts of failures | where the model's service is, and what it says of itself; when a limit ends |
| commands of one answer | the order of two that codex runs side by side |
| tools of MCP servers | that a server starts and is ready: the mock starts none |

Besides, the conversations `exec: …` of the table above start the real program and the mock with the same command lines,
first with `--json`, then without: turns, failures, resumed sessions, files, what comes from standard input, signals.
What either writes, and how it ends, is compared likewise.

Known to differ: nothing is run, so a command takes no time and changes no file. Nobody is asked for approval. Sessions
are stored in a form of the mock's own. `exec review` and `exec` of other versions than these are not compared line by
line: changes between them were seen of binaries.

## codex mcp-server

`mocks/tests/codex/mcp_server` plays recorded sessions of {mcp_versions}: every result, error and elicitation must be
the recorded one, and the events of each call must be of the recorded types, in their order. Left out are ids,
`codex_event_id`, the user agent, the order of members, events about tokens and the model's own items (which race), and
the events of commands, which later versions send as items as well. The events have the fields that they had up to
0.114.0. Of `config` the mock follows `model`, `approval_policy` and `sandbox_mode`. From 0.155.0 on there is no such
command.

"""

_LIMITS = """\
## What the mock does otherwise, or not

- Of very many requests at once it answers all, in order, unless `WIREPROOF_OVERLOAD_AT` says otherwise: a real server
from
  0.100.0 on refuses some of 300 (-32001), and never answers others.
- Up to 0.160.0 the client is asked for one call of an answer at a time, and for which of two first is chance. Here
  they come in the order of the answer.
- Two v1 listeners of a conversation share its events; which of them gets which is chance in the real 0.89.0.
- It listens on stdio alone, so it has one client, which is all that the SDKs that were run ask for. `--listen ws://…`
  and `unix://…`, `app-server proxy` and `daemon` are refused.
- A summary of the conversation that breaks off is not sent raw, as 0.149.1 does it. While it is made, turn/start is
  refused, where 0.121.0 answers.
- MCP servers are not started: what a script says of their tools is sent as if they were there, and tools that need the
  client's approval are not asked for.
- A goal begins no turns of its own. From 0.124.0 to 0.160.0 a real server takes input that waited when an answer with
  calls has failed; here it is lost.
- How many tokens a conversation has that was summed up or rolled back is an estimate: the real one counts its own
  instructions.
- Methods that neither proxies nor the SDKs that were run ask for (review/start, command/exec, fuzzyFileSearch,
  execOneOffCommand, setDefaultModel, thread/realtime, plugins, files and others) are refused: `wireproof-codex does not
  play <method>`.
- Threads are stored in a form of the mock's own: neither side reads the files of the other.
"""

_MARKS = {"equal": "equal", "accepted difference": "accepted", "not replayed": "not replayed"}


def fidelity_page(replays: Replays, compared: Sequence[Compared]) -> str:
    """The page as Markdown."""
    parts = [
        _HEAD,
        *_replayed(replays),
        *_versions(),
        *_changes(),
        *_compared(compared),
        _MEASURED,
        _commands(),
        _LIMITS,
    ]
    return "\n".join(parts)


def _commands() -> str:
    """What is compared of the commands beside the app-server."""
    runs = {folder.name: len(list(folder.iterdir())) for folder in sorted((_CODEX / "exec/recordings").iterdir())}
    served = {file.name.partition("_")[0] for file in (_CODEX / "mcp_server/recordings").iterdir()}
    return _COMMANDS.format(
        exec_runs=max(runs.values()),
        exec_versions=", ".join(sorted(runs, key=_order)),
        mcp_versions=", ".join(sorted(served, key=_order)),
    )


def versions_text() -> str:
    """How many versions are played, and how many of them were recorded: a paragraph of `docs/mock.md`."""
    oldest, newest = next(iter(VERSIONS)), NEWEST.number
    recorded = len({version.played_as for version in VERSIONS.values()})
    return (
        f"Every stable version from {oldest} to {newest} is played, {len(VERSIONS)} in all. "
        f"Of {recorded} of them sessions were\nrecorded with the real program."
    )


_PLAYED_AS = """\
## Versions that were not measured

A stable version of which no session was recorded is played as the newest recorded version before it, with the changes
that were seen of binaries in between. `wireproof-codex` says so on stderr when it starts. `--version` and `userAgent`
still give the number that was asked for, since clients choose by it what they send.
"""


def _versions() -> Iterator[str]:
    yield _PLAYED_AS
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for number, version in VERSIONS.items():
        if number != version.played_as:
            groups.setdefault((version.played_as, version.seen_in), []).append(number)
    rows = ((", ".join(numbers), played_as, ", ".join(seen)) for (played_as, seen), numbers in groups.items())
    yield from _table(("version", "played as", "with changes of"), rows)


_SEEN = """\
## Changes that no recording holds

Every other change of a version is held by a recording: without the change the mock plays that recording otherwise.
These were seen of the binaries, and are restated here; nothing in this repository can show them again.
"""


def _changes() -> Iterator[str]:
    yield _SEEN
    rows = ((change.first, change.seen) for change in CHANGES if change.seen)
    yield from _table(("version", "what was seen"), rows)


def _replayed(replays: Replays) -> Iterator[str]:
    counts = Counter(row.verdict for row in replays.rows)
    total = ", ".join(f"{number} {verdict}" for verdict, number in counts.most_common())
    yield f"{len(replays.rows)} recordings of {len({row.version for row in replays.rows})} versions: {total}.\n"
    yield from _matrix(replays.rows)
    yield from _reasons(replays.rows)
    yield from _everywhere(replays)


def _matrix(rows: Sequence[Replayed]) -> Iterator[str]:
    """Scenarios by the versions that were recorded in breadth; then version by version what else was recorded."""
    recorded = Counter(row.version for row in rows)
    wide = sorted((version for version, number in recorded.items() if number > _BREADTH), key=_order)
    found = {(row.scenario, row.version): row for row in rows}
    yield from _table(
        ("scenario", *wide),
        (
            (f"`{scenario}`", *(_cell(found.get((scenario, version))) for version in wide))
            for scenario in sorted({row.scenario for row in rows if row.version in wide})
        ),
    )
    narrow = sorted((version for version in recorded if version not in wide), key=_order)
    if narrow:
        yield _BETWEEN
        yield from _table(
            ("version", *_MARKS.values()),
            ((version, *(_named(rows, version, verdict) for verdict in _MARKS)) for version in narrow),
        )


def _named(rows: Sequence[Replayed], version: str, verdict: str) -> str:
    return ", ".join(sorted(f"`{row.scenario}`" for row in rows if (row.version, row.verdict) == (version, verdict)))


def _cell(row: Replayed | None) -> str:
    return _MARKS[row.verdict] if row else ""


def _order(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


def _reasons(rows: Sequence[Replayed]) -> Iterator[str]:
    for verdict, title in (("accepted difference", "Accepted differences"), ("not replayed", "Not replayed")):
        whys: dict[tuple[str, str], list[str]] = {}
        for row in rows:
            if row.verdict == verdict:
                whys.setdefault((row.scenario, row.why), []).append(row.version)
        if whys:
            yield f"### {title}\n"
            yield from _table(
                ("scenario", "version", "why"),
                (
                    (f"`{scenario}`", ", ".join(sorted(versions, key=_order)), why)
                    for (scenario, why), versions in sorted(whys.items())
                ),
            )


def _everywhere(replays: Replays) -> Iterator[str]:
    yield "### Left out everywhere\n"
    yield _RACES
    reasons: dict[str, list[str]] = {}
    for name, why in (*replays.unsent.items(), *replays.own.items()):
        reasons.setdefault(why, []).append(f"`{name}`")
    yield from _table(("what", "why"), ((", ".join(names), why) for why, names in reasons.items()))


def _compared(rows: Sequence[Compared]) -> Iterator[str]:
    if not rows:
        return
    counts = Counter(row.result for row in rows)
    yield "## The same scripts through the real binary and the mock\n"
    yield "A scripted model stands behind the real binary; the mock plays the same script itself. What either sends is"
    yield "compared as above.\n"
    yield ", ".join(f"{number} {result}" for result, number in counts.most_common()) + ".\n"
    versions = sorted({row.version for row in rows}, key=_order)
    found: Mapping[tuple[str, str], Compared] = {(row.script, row.version): row for row in rows}
    yield from _table(
        ("script", *versions),
        (
            (
                f"`{script}`",
                *(found[script, version].result if (script, version) in found else "" for version in versions),
            )
            for script in sorted({row.script for row in rows})
        ),
    )
    different = [row for row in rows if row.why]
    if different:
        yield "### What differs there\n"
        yield from _table(
            ("script", "version", "difference", "why"),
            ((f"`{row.script}`", row.version, row.difference, row.why) for row in different),
        )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _row(head)
    yield _row(["---"] * len(head))
    for row in rows:
        yield _row(row)
    yield ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
