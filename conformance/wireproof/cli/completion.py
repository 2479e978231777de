"""`wireproof completion`: what a shell has to read so that it completes the commands and options of `wireproof`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

PROGRAM = "wireproof"
VARIABLE = "_WIREPROOF_COMPLETE"
"""The variable by which a shell asks `wireproof` for completions; click derives the same name from the program's."""


@click.command("completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print the completion of this command for a shell: `eval "$(wireproof completion bash)"` in its profile."""
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"click completes nothing in {shell}")
    # Not `instance.source()` of the bash class with its check of bash's version: that would start a bash.
    made = found(context.find_root().command, {}, PROGRAM, VARIABLE)
    click.echo(made.source_template % made.source_vars())
