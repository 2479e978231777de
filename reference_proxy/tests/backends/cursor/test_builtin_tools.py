"""What is run for the service, in a real folder, and what is refused."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf.json_format import MessageToDict, ParseDict

from wireproof_cursor_protos.agent_pb2 import ExecServerMessage
from wireproof_proxy.backends.cursor.builtin_tools import BuiltinTools

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "scratch"
    (folder / "docs").mkdir(parents=True)
    (folder / "notes.md").write_text("one\nTODO two\nthree\n", encoding="utf-8")
    (folder / "docs" / "todo.txt").write_text("TODO\n", encoding="utf-8")
    (folder / "picture").write_bytes(b"\x89PNG\xff\0TODO")
    (folder.parent / "secret").write_text("TODO secret", encoding="utf-8")
    (folder / "out").symlink_to(folder.parent)
    return folder


def answers(tools: BuiltinTools, **exec_: Any) -> list[Any]:
    message = ParseDict({"id": 7, "exec_id": "e7", **exec_}, ExecServerMessage())
    sent = asyncio.run(tools.run(message))
    return [MessageToDict(one, preserving_proto_field_name=True) for one in sent]


def result(tools: BuiltinTools, **exec_: Any) -> Any:
    """The result of an exec, which must be closed."""
    answer, close = answers(tools, **exec_)
    assert close == {"exec_client_control_message": {"stream_close": {"id": 7}}}
    message = answer["exec_client_message"]
    assert (message.pop("id"), message.pop("exec_id")) == (7, "e7")
    [(_, found)] = message.items()
    return found


def test_a_file_is_read(folder: Path) -> None:
    tools = BuiltinTools(folder)
    assert result(tools, read_args={"path": "notes.md"}) == {
        "success": {"path": "notes.md", "content": "one\nTODO two\nthree\n", "total_lines": 3, "file_size": "19"}
    }
    lines = result(tools, read_args={"path": "notes.md", "offset": 2, "limit": 1})
    assert lines["success"]["content"] == "TODO two\n"


def test_bytes_that_are_no_text_stay_bytes(folder: Path) -> None:
    found = result(BuiltinTools(folder), read_args={"path": "picture"})["success"]
    assert "content" not in found
    assert found["data"]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("nowhere", "file_not_found"),
        ("docs", "invalid_file"),
        ("../secret", "rejected"),
        ("/etc/passwd", "rejected"),
        ("out/secret", "error"),
    ],
)
def test_what_cannot_be_read_is_said_to_be_so(folder: Path, path: str, kind: str) -> None:
    assert list(result(BuiltinTools(folder), read_args={"path": path})) == [kind]


def test_a_folder_is_listed(folder: Path) -> None:
    found = result(BuiltinTools(folder), ls_args={"path": "."})["success"]["directory_tree_root"]
    assert found["abs_path"] == str(folder)
    assert [one["abs_path"] for one in found["children_dirs"]] == [f"{folder}/docs"]
    assert [one["name"] for one in found["children_files"]] == ["notes.md", "picture"]
    assert list(result(BuiltinTools(folder), ls_args={"path": "/"})) == ["rejected"]
    assert list(result(BuiltinTools(folder), ls_args={"path": "nowhere"})) == ["error"]


def searched(folder: Path, **args: Any) -> Any:
    found = result(BuiltinTools(folder), grep_args=args)
    return found["success"]["workspace_results"][str(folder)] if "success" in found else found


def test_a_text_has_the_lines_that_its_bytes_have(folder: Path) -> None:
    (folder / "notes.md").write_text("one\u2028line\nTODO two\n", encoding="utf-8")
    read = result(BuiltinTools(folder), read_args={"path": "notes.md", "offset": 2})["success"]
    assert (read["content"], read["total_lines"]) == ("TODO two\n", 2)
    [found] = searched(folder, pattern="two")["content"]["matches"]
    assert found["matches"] == [{"line_number": 2, "content": "TODO two"}]


def test_lines_are_found_by_a_pattern(folder: Path) -> None:
    content = searched(folder, pattern="TODO")["content"]["matches"]
    assert content == [
        {"file": "docs/todo.txt", "matches": [{"line_number": 1, "content": "TODO"}]},
        {"file": "notes.md", "matches": [{"line_number": 2, "content": "TODO two"}]},
    ]
    files = searched(folder, pattern="todo", case_insensitive=True, output_mode="files_with_matches", path="docs")
    assert files["files"]["files"] == ["todo.txt"]
    assert searched(folder, pattern="TODO", output_mode="count")["count"]["total_matches"] == 2


def test_files_are_found_by_a_glob(folder: Path) -> None:
    assert searched(folder, glob="**/*.txt")["files"]["files"] == ["docs/todo.txt"]
    assert searched(folder, glob="*.md")["files"]["files"] == ["notes.md"]


def test_what_cannot_be_searched_is_said_to_be_so(folder: Path) -> None:
    assert "error" in searched(folder, pattern="(")
    assert "error" in searched(folder, pattern="x", path="nowhere")
    assert "error" in searched(folder, pattern="x", path="../..")
    assert "error" in searched(folder, pattern="x", output_mode="poem")


def test_a_search_that_takes_too_long_is_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wireproof_proxy.backends.cursor.builtin_tools.SEARCH_SECONDS", 1.0)
    (folder / "long.txt").write_text("a" * 40 + "!", encoding="utf-8")
    assert searched(folder, pattern="(a+)+$") == {"error": {"error": "the search took too long"}}


def test_writing_is_off_unless_it_is_switched_on(folder: Path) -> None:
    args = {"path": "docs/new.md", "file_text": "two\nlines", "return_file_content_after_write": True}
    assert list(result(BuiltinTools(folder), write_args=args)) == ["rejected"]
    assert not (folder / "docs" / "new.md").exists()
    found = result(BuiltinTools(folder, may_write=True), write_args=args)["success"]
    assert found == {
        "path": "docs/new.md",
        "lines_created": 2,
        "file_size": 9,
        "file_content_after_write": "two\nlines",
    }
    assert (folder / "docs" / "new.md").read_text(encoding="utf-8") == "two\nlines"
    outside = {"path": "out/new.md", "file_text": "x"}
    assert list(result(BuiltinTools(folder, may_write=True), write_args=outside)) == ["error"]
    assert list(result(BuiltinTools(folder, may_write=True), write_args={"path": "../new.md"})) == ["rejected"]


def test_the_shell_is_off_unless_it_is_switched_on(folder: Path) -> None:
    args = {"command": "touch made; pwd"}
    assert list(result(BuiltinTools(folder, may_write=True), shell_args=args)) == ["rejected"]
    [refused, _] = answers(BuiltinTools(folder), shell_stream_args=args)
    assert "rejected" in refused["exec_client_message"]["shell_stream"]
    assert not (folder / "made").exists()
    found = result(BuiltinTools(folder, may_run=True), shell_args=args)["success"]
    assert found["stdout"] == f"{folder}\n"
    assert (folder / "made").exists()


def test_a_command_has_neither_key_nor_token(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CURSOR_TOKEN", "t0k3n")
    monkeypatch.setenv("PROXY_API_KEY", "k3y")
    found = result(BuiltinTools(folder, may_run=True), shell_args={"command": "env"})["success"]["stdout"]
    assert "t0k3n" not in found
    assert "k3y" not in found


def test_a_command_that_fails_says_how(folder: Path) -> None:
    found = result(BuiltinTools(folder, may_run=True), shell_args={"command": "echo no >&2; exit 3"})["failure"]
    assert (found["exit_code"], found["stderr"]) == (3, "no\n")


def test_a_command_that_prints_much_is_read_to_its_end_and_shown_up_to_the_limit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wireproof_proxy.backends.cursor.builtin_tools.LARGEST", 100_000)
    command = "head -c 3000000 /dev/zero | tr '\\0' x; echo end > done"
    found = result(BuiltinTools(folder, may_run=True), shell_args={"command": command})["success"]
    assert found["stdout"] == "x" * 100_000
    assert (folder / "done").exists()


def test_a_command_that_takes_too_long_is_ended_with_its_children(folder: Path) -> None:
    args = {"command": "sleep 300 & echo $! > pid; wait", "timeout": 400}
    assert list(result(BuiltinTools(folder, may_run=True), shell_args=args)) == ["timeout"]
    pid = int((folder / "pid").read_text(encoding="utf-8"))
    with pytest.raises(ProcessLookupError):
        _await_end(pid)


RUNS = """
import asyncio, pathlib, sys
from wireproof_cursor_protos.agent_pb2 import ExecServerMessage
from wireproof_proxy.backends.cursor.builtin_tools import BuiltinTools
asked = ExecServerMessage()
asked.shell_args.command = "echo $$ > pid; exec sleep 300"
asyncio.run(BuiltinTools(pathlib.Path(sys.argv[1]), may_run=True).run(asked))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux alone ends a process with its parent")
def test_a_command_ends_with_the_proxy_that_is_killed(folder: Path) -> None:
    proxy = subprocess.Popen([sys.executable, "-c", RUNS, str(folder)])
    written = folder / "pid"
    while not (written.exists() and written.read_text(encoding="utf-8").endswith("\n")):
        assert proxy.poll() is None
        asyncio.run(asyncio.sleep(0.01))
    pid = int(written.read_text(encoding="utf-8"))
    os.kill(pid, 0)
    proxy.kill()
    proxy.wait()
    with pytest.raises(ProcessLookupError):
        _await_end(pid)


def _await_end(pid: int) -> None:
    """Raises once the process is gone; whoever adopts it reaps it."""
    for _ in range(1000):
        os.kill(pid, 0)
        if _is_zombie(pid):
            raise ProcessLookupError
        asyncio.run(asyncio.sleep(0.01))


def _is_zombie(pid: int) -> bool:
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:  # noqa: PTH123
        return stat.read().rpartition(")")[2].split()[0] == "Z"


def test_a_streamed_command_starts_prints_and_exits(folder: Path) -> None:
    sent = answers(BuiltinTools(folder, may_run=True), shell_stream_args={"command": "echo hi"})
    kinds = [next(iter(one["exec_client_message"]["shell_stream"])) for one in sent[:-1]]
    assert kinds == ["start", "stdout", "stderr", "exit"]
    assert sent[1]["exec_client_message"]["shell_stream"]["stdout"] == {"data": "hi\n"}
    assert "stream_close" in sent[-1]["exec_client_control_message"]


@pytest.mark.parametrize("kind", ["delete_args", "fetch_args", "mcp_args", "background_shell_spawn_args", "read_args"])
def test_without_a_folder_all_is_refused_and_in_one_what_is_not_known(folder: Path, kind: str) -> None:
    refused = list(result(BuiltinTools(None), **{kind: {}}))
    assert refused[0] in {"rejected", "error"}
    if kind != "read_args":
        assert list(result(BuiltinTools(folder, may_write=True, may_run=True), **{kind: {}})) == refused


def test_what_is_not_known_is_thrown(folder: Path) -> None:
    [answer] = answers(BuiltinTools(folder))
    assert answer["exec_client_control_message"]["throw"]["id"] == 7
