"""`wireproof`: the table of its commands. Each is imported when it is run, with what it needs and no more.

So the help, the completion of names and `wireproof serve`, which client developers start with each run of their tests,
are not kept waiting by what judges proxies. Exit statuses: `certificate.MEANINGS`.
"""

from __future__ import annotations

import errno
import gc
import io
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete

if TYPE_CHECKING:
    from collections.abc import Mapping

SEARCHED = 20_000
"""How many objects must be new before garbage is looked for. A run keeps nearly all that it makes until its end."""
PROGRAM = "wireproof"
VARIABLE = "_WIREPROOF_COMPLETE"
"""The variable by which a shell asks `wireproof` for completions; click derives the same name from the program's."""
_STDOUT = 1
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""The errors of what cannot be written to, at whatever point of a command."""
SHELLS: Mapping[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
COMMANDS: Mapping[str, tuple[str, str, str]] = {
    "certificate": ("certificates", "certificate_group", "Write results as files that others can verify."),
    "certify": ("certify", "certify_command", "Certify a proxy, by its URL, command or target file."),
    "client": ("client", "client_command", "Judge a client by what it sends."),
    "compare": ("compare", "compare_command", "Print several saved results beside each other."),
    "completion": ("root", "completion_command", "Print what completes this command in your shell."),
    "diff": ("results", "diff_command", "Print what differs between two saved results."),
    "explain": ("lookup", "explain_command", "Print all that is known of a requirement."),
    "init": ("init", "init_command", "Write a target file by asking the target what it is."),
    "judge": ("results", "judge_command", "Judge saved transcripts again."),
    "known-failing": ("results", "known_failing_group", "Write a file of known failures."),
    "list": ("listing", "list_command", "List the requirements, or the scenarios."),
    "persona": ("persona", "persona_command", "Hold a conversation with a proxy as a known client does."),
    "record": ("record", "record_command", "Record the answers of a live endpoint as scripts."),
    "replay": ("replay", "replay_command", "Send the requests of a saved scenario again."),
    "report": ("results", "report_command", "Print a saved result in another format."),
    "scripts": ("scripts", "scripts_group", "Check scripts, and print their schema for editors."),
    "serve": ("serve", "serve_command", "Serve a scripted endpoint to develop clients with."),
    "show": ("lookup", "show_command", "Print a scenario and the script that answers it, as JSON."),
    "site": ("site", "site_command", "Make a static site of saved results."),
    "verify": ("certificates", "verify_command", "Judge the transcripts in a certificate again."),
}
"""Command → its module in this folder, its name there, and what it does, in a line of the help."""


class _Table(click.Group):
    """A group of commands that knows their names, and imports the one that is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        del ctx  # all are there in any context
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, imported; None: there is none."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module, name, _ = COMMANDS[cmd_name]
        found: click.Command = getattr(import_module(f"wireproof.cli.{module}"), name)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lines of the help; click itself would import every command for its own."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, does) for name, (_, _, does) in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What a shell offers, for the same reason by the table."""
        found = {name: does for name, (_, _, does) in COMMANDS.items() if name.startswith(incomplete)}
        return [
            *(CompletionItem(name, help=does) for name, does in found.items()),
            *click.Command.shell_complete(self, ctx, incomplete),
        ]


@click.group(PROGRAM, cls=_Table, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name=PROGRAM, prog_name=PROGRAM)
def root() -> None:
    """Certify OpenAI-compatible proxies in front of coding agents."""


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print the completion of this command for a shell: `eval "$(wireproof completion bash)"` in its profile."""
    # Not `instance.source()` of the bash class with its check of bash's version: that would start a bash.
    made = SHELLS[shell](context.find_root().command, {}, PROGRAM, VARIABLE)
    click.echo(made.source_template % made.source_vars())


def main() -> None:
    """Run the command line."""
    # A terminal, or a file, may be of an encoding that lacks a character: it is then written as `\u2026`, as in JSON.
    if isinstance(sys.stdout, io.TextIOWrapper):  # it may be None, or of another kind in a program that has us run
        sys.stdout.reconfigure(errors="backslashreplace")
    # What imports make stays: to look for garbage among it takes time and finds none. So the command is imported here,
    # where click would do it between parsing and running.
    gc.disable()
    root.get_command(click.Context(root), "".join(sys.argv[1:2]))
    gc.freeze()
    gc.set_threshold(SEARCHED)
    gc.enable()
    try:
        try:
            root(prog_name=PROGRAM)
        finally:
            if sys.stdout is not None:  # as it is where the shell has closed it
                sys.stdout.flush()
    except OSError as error:
        if error.errno not in _FULL:
            raise
        from wireproof.cli.complaint import refusal  # noqa: PLC0415 - it would slow every start

        # Python writes what stdout still holds once more when it ends, and would print that failure, too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), _STDOUT)
        raise refusal(f"{error.filename or 'stdout'} cannot be written: {error.strerror}") from None
