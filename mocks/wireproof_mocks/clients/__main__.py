"""A miniature client as a program: prompts as arguments, or a line each on standard input; it prints the answers."""

from __future__ import annotations

import argparse
import os
import sys

import httpx

from wireproof_mocks.clients import FAULTS, FORMS, ClientFault, MiniatureClient, NoAnswerError

WAIT = 30.0
"""Seconds of silence after which an answer is given up."""


def main(arguments: list[str] | None = None) -> int:
    """Ask; 0 if each prompt was answered, 1 if one was not."""
    parser = argparse.ArgumentParser(prog="python -m wireproof_mocks.clients", description=__doc__)
    parser.add_argument("prompts", nargs="*", help="what to ask; without any, the lines of standard input")
    parser.add_argument("--surface", choices=FORMS, default="chat")
    parser.add_argument("--stream", action="store_true", help="ask for streams")
    parser.add_argument("--fault", choices=FAULTS, help="the fault that it has")
    given = parser.parse_args(arguments)
    fault = FAULTS[given.fault] if given.fault else ClientFault(breaks="")
    if fault.prepare:
        fault.prepare()
    form = FORMS[given.surface]
    headers = form.headers(os.environ["OPENAI_API_KEY"])
    with httpx.Client(base_url=os.environ["OPENAI_BASE_URL"], headers=headers, timeout=WAIT) as http:
        client = fault.kind(http, form, model="gpt-5", stream=given.stream)
        return _asked(client, given.prompts or [line.rstrip("\n") for line in sys.stdin])


def _asked(client: MiniatureClient, prompts: list[str]) -> int:
    status = 0
    for prompt in prompts:
        try:
            sys.stdout.write(f"{client.ask(prompt)}\n")
        except NoAnswerError as failed:
            sys.stderr.write(f"failed: {failed}\n")
            status = 1
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
