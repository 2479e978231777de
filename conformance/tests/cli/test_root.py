from __future__ import annotations

import re
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from wireproof.cli.root import COMMANDS, root


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_of_the_table_is_there_under_its_name(name: str) -> None:
    found = root.get_command(click.Context(root), name)
    assert found is not None
    assert found.name == name


def test_the_help_says_of_each_command_what_it_does_in_one_line_in_alphabetical_order() -> None:
    shown = CliRunner().invoke(root, ["--help"], terminal_width=80).output
    lines = shown.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in lines] == sorted(COMMANDS)
    assert all(re.match(r"  \S+ +\S.*\.$", line) for line in lines)


def test_a_command_that_there_is_not_is_refused() -> None:
    done = CliRunner().invoke(root, ["certfy"])
    assert done.exit_code == 2
    assert "No such command 'certfy'" in done.output


HEAVY = {"httpx", "jsonschema_rs", "jinja2", "pydantic", "rich", "asyncio", "wireproof.scenarios", "wireproof_endpoint"}
"""What takes long to import, and no help needs."""


def test_the_command_starts_without_what_its_commands_need() -> None:
    code = "import sys, wireproof.cli.root; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert HEAVY & set(done.stdout.split()) == set()


def test_the_list_of_requirements_starts_without_the_scenarios() -> None:
    code = "import sys, wireproof.cli.listing; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"httpx", "jsonschema_rs", "asyncio", "wireproof.scenarios"} & set(done.stdout.split()) == set()


def test_a_shell_is_offered_the_commands_of_the_table() -> None:
    env = {"_WIREPROOF_COMPLETE": "bash_complete", "COMP_WORDS": "wireproof re", "COMP_CWORD": "1"}
    done = CliRunner().invoke(root, [], env=env, prog_name="wireproof")
    assert done.output.split() == ["plain,record", "plain,replay", "plain,report"]
