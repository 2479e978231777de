"""`wireproof persona`: what it prints, and its exit status. What the personas do is tested in mocks/tests/personas."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from wireproof.cli import root as commands
from wireproof.targets.launch import launch
from wireproof.targets.ports import free_port
from wireproof_mocks.personas import PERSONAS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.sampled(10)

KEY = "key of the tests"


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    settings = {"PROXY_OUTPUT_MODE": "openai-json", "PROXY_STOP_AFTER_TOOLS_MODE": "burst", "PROXY_API_KEY": KEY}
    with launch([sys.executable, "-m", "wireproof_mocks.miniatures"], env=settings, without="PROXY_") as served:
        yield served.base_url.removesuffix("/v1")


def persona(*words: str, typed: str = "", key: str = KEY) -> Result:
    env = {"MY_KEY": key, "COLUMNS": "200"}
    return CliRunner().invoke(commands.root, ["persona", *words], input=typed, env=env)


def at(root: str, fault: str = "none") -> tuple[str, ...]:
    return ("--url", f"{root}/{fault}/v1", "--api-key-env", "MY_KEY")


def test_the_personas_are_listed() -> None:
    done = persona("--list")
    assert done.exit_code == 0
    for one in PERSONAS.values():
        assert f"{one.name}\n  {one.title}: {one.does}\n" in done.output


def test_without_a_name_they_are_listed_and_it_is_wrong_usage() -> None:
    done = persona()
    assert (done.exit_code, "obsidian-copilot" in done.output) == (2, True)


def test_without_a_url_the_bundled_proxy_serves_it() -> None:
    done = persona("obsidian-copilot-xml")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("Obsidian Copilot 3.0 to 3.1.5\n")
    assert 'understood text "Let me look. <use_tool> <name>localSearch</name>' in done.output
    assert done.output.endswith(
        "served: obsidian-copilot-xml: the conversation came to its end after 3 requests\n"
    )  # fmt: skip


def test_a_proxy_is_served_at_its_url_with_its_first_model(root: str) -> None:
    done = persona("opencode", *at(root))
    assert done.exit_code == 0, done.output
    assert f"at {root}/none/v1, model codex" in done.output


def test_headers_are_sent(root: str) -> None:
    done = persona("obsidian-copilot-xml", *at(root), "--header", "x-proxy-output-mode=obsidian-xml")
    assert done.exit_code == 0, done.output
    wrong = persona("obsidian-copilot-xml", *at(root))
    assert (wrong.exit_code, "looks for <use_tool>" in wrong.output) == (1, True)


def test_a_proxy_with_a_fault_is_named_as_not_serving(root: str) -> None:
    done = persona("opencode", *at(root, "finish-lost"))
    assert done.exit_code == 1
    assert "not served: opencode: the stream ended without a finish_reason" in done.output


def test_of_what_the_model_said_a_hint_speaks(root: str) -> None:
    done = persona("opencode", *at(root, "tools-stripped-after-result"))
    assert done.exit_code == 1
    assert "If a model is behind this proxy, use --say." in done.output


def test_the_user_approves_in_the_terminal_in_a_vault_of_their_own(root: str, tmp_path: Path) -> None:
    (tmp_path / "Release.md").write_text("Soon.", encoding="utf-8")
    done = persona("chatgpt-md", *at(root), "--vault", str(tmp_path), typed="y\ny\nd\n1\ny\n")
    assert done.exit_code == 0, done.output
    assert done.output.count("Tool Approval Request") == 5
    assert '"preview": "Soon."' in done.output
    assert 'Executing tool: file_read {"filePaths": ["Projects/Release plan.md"]}' in done.output
    assert "File not found: Projects/Release plan.md" in done.output


def test_without_a_terminal_every_call_is_cancelled(root: str) -> None:
    done = persona("chatgpt-md", *at(root))
    assert done.exit_code == 0, done.output
    assert done.output.count("(closed)") == 3
    assert "User cancelled tool execution" in done.output


@pytest.mark.parametrize("words", [("--approve", "always"), ("--approve", "never"), ("--whole", "--approve", "always")])
def test_nobody_is_asked(root: str, words: tuple[str, ...]) -> None:
    done = persona("chatgpt-md", *at(root), *words)
    assert (done.exit_code, "Tool Approval Request" in done.output) == (0, False), done.output


def test_a_page_is_served_only_when_a_call_asks(root: str) -> None:
    done = persona("opencode", *at(root), "--approve", "page")
    assert (done.exit_code, "approve or cancel at" in done.output) == (0, False), done.output


def test_tools_are_switched_off(root: str) -> None:
    done = persona("chatgpt-md", *at(root), "--no-tools")
    assert done.exit_code == 0, done.output
    assert "no tools" in done.output
    assert '"I cannot see your notes."' in done.output


def test_a_question_of_ones_own(root: str) -> None:
    done = persona("obsidian-copilot", *at(root), "--say", "Good morning!", "--model", "codex")
    assert done.exit_code == 0, done.output
    assert "Good morning!" in done.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nobody"], "there is no persona 'nobody'; there are obsidian-copilot-xml,"),
        (["opencode", "--no-tools"], "the tools of opencode cannot be switched off"),
        (["opencode", "--vault", "."], "opencode has no vault"),
        (["opencode", "--api-key-env", "NOT_SET_AT_ALL"], "NOT_SET_AT_ALL"),
        (["opencode", "--header", "no value"], "'--header': *** should be NAME=VALUE"),
        (["chatgpt-md", "--approve", "sometimes"], "sometimes"),
    ],
)
def test_wrong_usage(words: list[str], message: str) -> None:
    done = persona(*words)
    assert done.exit_code == 2
    assert message in done.output


def test_a_proxy_that_is_not_there() -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    for words in ([], ["--model", "m"]):
        done = persona("opencode", "--url", url, *words)
        assert done.exit_code == 3
        assert "cannot be reached" in done.output
    done = persona("opencode", "--url", "nonsense")
    assert (done.exit_code, "'nonsense' is no base URL of a proxy: it should begin with" in done.output) == (2, True)


def test_a_key_that_is_wrong_is_said_to_be(root: str) -> None:
    done = persona("opencode", *at(root), key="wrong")
    assert done.exit_code == 3
    assert "/models: HTTP 401; name a model with --model, and a key with --api-key-env" in done.output
    assert "did you mean" not in done.output
    refused = persona("opencode", *at(root), "--model", "codex", key="wrong")
    assert (refused.exit_code, "not served: opencode: HTTP 401: " in refused.output) == (1, True)


def test_a_base_url_that_goes_on_to_an_endpoint_is_said_to(root: str) -> None:
    done = persona("opencode", "--url", f"{root}/none/v1/chat/completions", "--api-key-env", "MY_KEY")
    assert done.exit_code == 3
    assert f"/models: HTTP 404; did you mean {root}/none/v1? Else name a model with --model" in done.output


def test_an_interrupt_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wireproof.cli.persona.run", interrupt)
    done = persona("opencode")
    assert (done.exit_code, "wireproof: interrupted" in done.output) == (130, True)
