"""The terminal report: counts, then each failure with what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from wireproof.model.dialect import DEFAULT, ArgumentsMode
from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.report.data import INTERRUPTED
from wireproof.report.effects import REPEATED
from wireproof.report.grouping import broken_rows, counted, grouped, named
from wireproof.report.head import head
from wireproof.report.lines import indented
from wireproof.report.phrases import STYLES, broken_requirement
from wireproof.report.readiness import by_readiness, in_lines, readiness
from wireproof.report.roots import roots
from wireproof.results.cells import flaky
from wireproof.results.certificate import NOT_RUN, Certificate, ExitStatus
from wireproof.results.document import ClientReady, Ready
from wireproof.wire.quoting import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from wireproof.model.catalogue import Catalogue
    from wireproof.report.roots import Roots
    from wireproof.results.document import Report

READY_STYLES: Mapping[Ready, str] = {
    Ready.BREAKS: "bold red",
    Ready.WORKS_BUT: "yellow",
    Ready.NOT_KNOWN: "cyan",
    Ready.WORKS: "green",
}
INCREMENTAL = ArgumentsMode.INCREMENTAL
JOURNALS = "--journal"
"""The option by which a command judges what is noted, and drives nothing."""


def report(
    console: Console, result: Report, certificate: Certificate, catalogue: Catalogue, *, demonstration: bool = False
) -> None:
    """Print everything, in the order in which a person wants it.

    `demonstration`: the target is the proxy that comes with Wireproof, because no other was named.
    """
    catalogue = catalogue.about(certificate.target.side)
    _roots(console, certificate, roots(result))
    head(console, certificate)
    _counts(console, certificate)
    _incompatible(console, certificate, catalogue)
    _failures(console, certificate, catalogue, result.configuration.command)
    _repeats(console, result)
    _flaky(console, certificate, catalogue)
    _known(console, certificate)
    _errors(console, certificate)
    _clients(console, tuple(readiness(certificate, catalogue)))
    console.print()
    if demonstration:
        what = "This is the proxy that comes with Wireproof; to certify yours, name it with --url or --launch."
        console.print(what, soft_wrap=True)
    _conclusion(console, certificate, catalogue, allow_partial=result.configuration.allow_partial)


def _clients(console: Console, found: Sequence[ClientReady]) -> None:
    """Which clients can be used: one line for each that breaks, the others by name."""
    table = Table(box=None, show_header=False, padding=(0, 1))
    for (surface, ready), those in by_readiness(found).items():
        said = "\n".join(in_lines(those)) if those[0].broken else ", ".join(one.client for one in those)
        table.add_row(Text(surface), Text(ready, style=READY_STYLES[ready]), Text(said))
    if found:
        console.print()
        console.print("real clients, by what they were measured to break on")
        console.print(table)


def _roots(console: Console, certificate: Certificate, roots: Roots) -> None:
    """Where to begin, printed first, so that it is seen without scrolling back."""
    if not roots.shown:
        return
    console.print(Text(_levels(certificate), style="bold"), soft_wrap=True)
    console.print(Text(f"{roots.title}:"), soft_wrap=True)
    for number, one in enumerate(roots.shown, start=1):
        console.print(Text(f"  {number}. {one}"), soft_wrap=True)
    console.print()


def _counts(console: Console, certificate: Certificate) -> None:
    table = Table(box=None, show_header=False, padding=(0, 1))
    # In the order of the enumeration, so that two reports can be compared line by line.
    for verdict in Verdict:
        count = certificate.counts[verdict]
        if count:
            table.add_row(Text(str(count), style=STYLES[verdict], justify="right"), verdict.value)
    if certificate.known:
        table.add_row(Text(str(len(certificate.known)), justify="right"), "known failing")
    console.print(table)


def _incompatible(console: Console, certificate: Certificate, catalogue: Catalogue) -> None:
    """List the clients that break if a target sends arguments cumulatively in OpenAI's own dialect, which it may."""
    target = certificate.target
    # No failure: codex-story, criterion 8 asks for cumulative arguments, and a target is judged by the mode that it
    # declares or shows. But clients concatenate, some of them into other arguments that they then run.
    if DEFAULT not in target.dialects or target.argument_mode(DEFAULT) is INCREMENTAL:
        return
    console.print()
    console.print(
        "[bold yellow]incompatible with OpenAI clients[/]: in openai-json each delta repeats the arguments so far",
        soft_wrap=True,
    )
    effects = (effect for row in catalogue.requirements if row.arguments is INCREMENTAL for effect in row.breaks)
    for effect in effects:
        # Rows list what else breaks these clients, too, which such a target need not do.
        if effect.endswith(REPEATED):
            indented(console, Text(f"breaks {effect.removesuffix(f' {REPEATED}')}", style="yellow"))


def _failures(console: Console, certificate: Certificate, catalogue: Catalogue, again: str) -> None:
    """Requirement by requirement, cause by cause; the first scenario in full, the others by name."""
    for row, blocks in broken_rows(certificate, catalogue):
        for found in sorted(blocks, key=lambda block: block.harmless):
            if found.outcome.known:
                continue
            console.print()
            head, *lines = broken_requirement(certificate, row, found.outcome, found.finding)
            console.print(head, soft_wrap=True)
            # One scenario is enough to see it again, and takes a moment instead of the whole run.
            repeat = Text(f"again: {_of_one(again, found.outcome.scenario)}", no_wrap=True)
            for line in (*lines, Text(found.where), repeat):
                indented(console, line)


def _of_one(again: str, scenario: str) -> str:
    """The command for one scenario; options stand before a command that it ends with."""
    if f" {JOURNALS} " in again:
        return again  # a journal is one scenario
    before, dashes, command = again.partition(" -- ")
    return f"{before} --only {scenario}{dashes}{command}"


def _repeats(console: Console, result: Report) -> None:
    """How each run of a repeated one ended; the rest of the report is of the worst run."""
    if result.repeats:
        ends = ", ".join(str(one.status) for one in result.repeats)
        console.print(f"\n{len(result.repeats)} runs, exit statuses {ends}; the worst is shown", soft_wrap=True)


def _flaky(console: Console, certificate: Certificate, catalogue: Catalogue) -> None:
    """What is broken in some runs of a repeated one and not in all."""
    for one in flaky(certificate, catalogue):
        verdicts = ", ".join(one.at(certificate.level))
        where = f"  {one.requirement}  {one.mode}, {one.dialect}: {verdicts}; {visible(one.seen)}"
        console.print(Text.assemble(("FLAKY", "bold yellow"), where), soft_wrap=True)


def _known(console: Console, certificate: Certificate) -> None:
    for outcome in certificate.known:
        console.print(Text(f"known failing  {outcome.key}  {outcome.known}", style="dim"), soft_wrap=True)


def _errors(console: Console, certificate: Certificate) -> None:
    # Each reason once: a target that died ends every scenario after it in the same words.
    for reason in dict.fromkeys(o.reason for o in certificate.outcomes if o.verdict is Verdict.ERROR):
        console.print(Text.assemble(("ERROR ", STYLES[Verdict.ERROR]), visible(reason)), soft_wrap=True)


def _levels(certificate: Certificate) -> str:
    """The verdict at each level, in a line."""
    return "; ".join(f"{level}: {_verdict(certificate, level)}" for level in VerdictLevel)


def _verdict(certificate: Certificate, level: VerdictLevel) -> str:
    broken = f"{counted(len(certificate.broken_at(level)), 'MUST')} broken"
    unobserved = f"{counted(len(certificate.unobserved_at(level)), 'MUST')} not observed"
    match certificate.verdict(level):
        # As the data say it: what an interrupted run has not broken says nothing of the rest.
        case ExitStatus.PARTIAL | ExitStatus.CERTIFIED if certificate.interrupted:
            return f"no certificate, {unobserved}"
        case ExitStatus.FAILED:
            return broken if certificate.selection else f"not certified, {broken}"
        case ExitStatus.PARTIAL:
            return unobserved if certificate.selection else f"certified in part, {unobserved}"
        case ExitStatus.CERTIFIED:
            return "nothing broken" if certificate.selection else "certified"
        case _:
            return "no certificate"


def _conclusion(console: Console, certificate: Certificate, catalogue: Catalogue, *, allow_partial: bool) -> None:
    """The last lines: both verdicts, then that of the level that decides, in the words of its exit status."""
    console.print(_levels(certificate), soft_wrap=True)
    at = f" at level {certificate.level}"
    if certificate.interrupted:
        console.print(f"[bold magenta]no certificate[/]: {INTERRUPTED}", soft_wrap=True)
    match certificate.exit:
        case ExitStatus.PARTIAL | ExitStatus.CERTIFIED if certificate.interrupted:
            _not_observed_either(console, certificate)
        # Before the plain cases: a selection is never "certified", however well it went.
        case ExitStatus.CERTIFIED | ExitStatus.FAILED if certificate.selection:
            _not_observed_either(console, certificate)
            console.print(f"{_selection(certificate, catalogue)}: {_broken(certificate)}", soft_wrap=True)
        case ExitStatus.CERTIFIED:
            known = counted(len(certificate.known), "known failure")
            but = f", except for {known}" if certificate.known else ""
            console.print(f"[bold green]certified[/]{at}{but}", soft_wrap=True)
        case ExitStatus.FAILED:
            _not_observed_either(console, certificate)
            console.print(f"[bold red]not certified[/]{at}: {_broken(certificate)}", soft_wrap=True)
        case ExitStatus.PARTIAL:
            console.print(_partial(certificate, catalogue), soft_wrap=True)
            _list_unobserved(console, certificate)
            if not allow_partial:  # who has accepted it already knows how
                console.print(
                    f"exit status {ExitStatus.PARTIAL:d}; --allow-partial accepts this result", soft_wrap=True
                )
        case _:
            console.print("[bold magenta]no certificate[/]: the target could not be driven to the end", soft_wrap=True)


def _selection(certificate: Certificate, catalogue: Catalogue) -> str:
    looked_at = sum(row.id in certificate.observed for row in catalogue.requirements)
    return f"selection: {looked_at} of {len(catalogue.requirements)} requirements looked at; not a certificate"


def _broken(certificate: Certificate) -> str:
    broken = len(certificate.broken_at(certificate.level))
    return f"{counted(broken, 'requirement') if broken else 'no requirements'} broken"


def _partial(certificate: Certificate, catalogue: Catalogue) -> str:
    if certificate.selection:
        what = _selection(certificate, catalogue)
    else:
        # Nothing observed is not even a part.
        what = (
            f"[bold yellow]certified in part[/] at level {certificate.level}"
            if certificate.observed
            else "[bold magenta]no certificate[/]"
        )
    missed, all_of_them = len(certificate.unobserved), len(certificate.musts_at(certificate.level))
    those = "requirements of the selection" if certificate.selection else "MUSTs"
    if not missed:  # there was no MUST to observe, and nothing else was observed
        return f"{what}: nothing could be observed"
    return f"{what}: nothing broken, but {missed} of {all_of_them} {those} could not be observed:"


def _not_observed_either(console: Console, certificate: Certificate) -> None:
    """What a broken requirement must not hide: the MUSTs of which nothing is known. The verdict stands below them."""
    missed = len(certificate.unobserved)
    if missed:
        all_of_them = len(certificate.musts_at(certificate.level))
        console.print(f"{missed} of {all_of_them} MUSTs could not be observed:", soft_wrap=True)
        _list_unobserved(console, certificate)


def _list_unobserved(console: Console, certificate: Certificate) -> None:
    """One line for each reason for which MUSTs were not observed, and one that counts those of no scenario."""
    rows = grouped((reason, row) for row, reason in certificate.unobserved.items())
    not_run = len(rows.pop(NOT_RUN, []))
    lines = [f"{named(those)}: {reason}" for reason, those in rows.items()]
    if not_run:
        lines.append(f"{counted(not_run, 'MUST')}{' more' if rows else ''}: {NOT_RUN}")
    for line in lines:
        indented(console, Text(visible(line)))
