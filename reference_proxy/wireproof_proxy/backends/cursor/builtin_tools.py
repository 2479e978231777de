"""What the service asks to run where the client has no tools: in a scratch folder, or refused.

Reading (read, ls, grep, glob) is allowed where there is such a folder. Writing and the shell have switches of their
own. A shell is not held in the folder: it begins there, and what it may do is what the proxy's user may do.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof_cursor_protos.agent_pb2 import (
    AgentClientMessage,
    GrepResult,
    LsDirectoryTreeNode,
    LsResult,
    ReadResult,
    ShellResult,
    ShellStream,
    WriteResult,
)
from wireproof_proxy.backends.cursor import replies
from wireproof_proxy.backends.cursor.scratch import NoFileError, OutsideError, Scratch
from wireproof_proxy.backends.orphans import ending_with_parent

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    from google.protobuf.message import Message

    from wireproof_cursor_protos.agent_pb2 import (
        ExecServerMessage,
        GrepArgs,
        LsArgs,
        ReadArgs,
        ShellArgs,
        WriteArgs,
    )

LARGEST = 2**20
"""Bytes of a file or an output that are returned."""
SEARCH_SECONDS = 10.0
SHELL_SECONDS = 60.0
"""The longest that a search, and a command, may take."""
_NO_FOLDER = "this client runs no tools"
_OFF = "this client does not allow it"
_UNKNOWN = "this client has no such tool"


@dataclass(frozen=True, slots=True)
class _Output:
    status: int
    out: str
    err: str
    milliseconds: int
    timed_out: bool


class BuiltinTools:
    """Runs execs in `folder`; None: every one is refused."""

    def __init__(self, folder: Path | None, *, may_write: bool = False, may_run: bool = False) -> None:
        self._scratch = Scratch(folder) if folder else None
        self._off = {kind for kinds, on in ((_WRITING, may_write), (_SHELLS, may_run)) if not on for kind in kinds}

    @property
    def folder(self) -> str:
        """The path of the folder; empty if there is none."""
        return str(self._scratch.folder) if self._scratch else ""

    async def run(self, exec_: ExecServerMessage) -> list[AgentClientMessage]:
        """The answers to an exec."""
        kind = exec_.WhichOneof("message") or ""
        if self._scratch is None:
            return replies.refusal(exec_, _NO_FOLDER)
        if kind in self._off:
            return replies.refusal(exec_, _OFF)
        try:
            if kind == "shell_stream_args":
                return await _shell_stream(self._scratch, exec_)
            tool = _TOOLS.get(kind)
            if tool is None:
                return replies.refusal(exec_, _UNKNOWN)
            result = await tool(self._scratch, getattr(exec_, kind))
        except OutsideError as error:
            return replies.refusal(exec_, str(error))
        return replies.closed(replies.result_of(exec_, result))


async def _read(scratch: Scratch, args: ReadArgs) -> ReadResult:
    result = ReadResult()
    try:
        data, size = await asyncio.to_thread(scratch.read, args.path, LARGEST)
    except FileNotFoundError:
        result.file_not_found.path = args.path
    except PermissionError:
        result.permission_denied.path = args.path
    except NoFileError as error:
        result.invalid_file.path, result.invalid_file.reason = args.path, str(error)
    except OSError as error:
        result.error.path, result.error.error = args.path, error.strerror or "cannot be read"
    else:
        success = result.success
        success.path, success.file_size, success.truncated = args.path, size, size > len(data)
        success.total_lines = len(data.splitlines())
        try:
            success.content = _lines(data, args).decode()
        except UnicodeDecodeError:
            success.data = data
    return result


def _lines(data: bytes, args: ReadArgs) -> bytes:
    """The lines that are asked for; `offset` counts from 1."""
    if not (args.HasField("offset") or args.HasField("limit")):
        return data
    first = max(args.offset - 1, 0)
    lines = data.splitlines(keepends=True)[first:]
    return b"".join(lines[: args.limit] if args.HasField("limit") else lines)


async def _write(scratch: Scratch, args: WriteArgs) -> WriteResult:
    result = WriteResult()
    data = args.file_bytes or args.file_text.encode()
    try:
        await asyncio.to_thread(scratch.write, args.path, data)
    except OSError as error:
        result.error.path, result.error.error = args.path, error.strerror or str(error)
    else:
        success = result.success
        success.path, success.file_size, success.lines_created = args.path, len(data), len(data.splitlines())
        if args.return_file_content_after_write:
            success.file_content_after_write = data.decode(errors="replace")
    return result


async def _ls(scratch: Scratch, args: LsArgs) -> LsResult:
    result = LsResult()
    try:
        entries = await asyncio.to_thread(scratch.entries, args.path)
    except OSError as error:
        result.error.path, result.error.error = args.path, error.strerror or "cannot be listed"
        return result
    root = result.success.directory_tree_root
    root.abs_path = "/".join((str(scratch.folder), *scratch.parts(args.path)))
    root.children_were_processed = True
    for entry in entries:
        if entry.is_folder:
            root.children_dirs.append(LsDirectoryTreeNode(abs_path=f"{root.abs_path}/{entry.name}"))
        else:
            root.children_files.add(name=entry.name)
    root.num_files = len(root.children_files)
    return result


async def _grep(scratch: Scratch, args: GrepArgs) -> GrepResult:
    # Here already, since a path that leads out is refused as such.
    scratch.parts(args.path)
    words = (sys.executable, "-m", "wireproof_proxy.backends.cursor.search", str(scratch.folder))
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        preexec_fn=ending_with_parent(signal.SIGKILL),
    )
    try:
        async with asyncio.timeout(SEARCH_SECONDS):
            found, _ = await process.communicate(args.SerializeToString())
    except TimeoutError:
        return GrepResult(error={"error": "the search took too long"})
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    failed = GrepResult(error={"error": "the search failed"})
    return GrepResult.FromString(found) if process.returncode == 0 else failed


async def _shell(scratch: Scratch, args: ShellArgs) -> ShellResult:
    result = ShellResult()
    output = await _output(scratch, args)
    if output.timed_out:
        timeout = result.timeout
        timeout.command, timeout.working_directory = args.command, args.working_directory
        timeout.timeout_ms = output.milliseconds
        return result
    found = result.success if output.status == 0 else result.failure
    found.command, found.working_directory = args.command, args.working_directory
    found.exit_code, found.stdout, found.stderr = output.status, output.out, output.err
    found.execution_time = output.milliseconds
    return result


async def _shell_stream(scratch: Scratch, exec_: ExecServerMessage) -> list[AgentClientMessage]:
    """The same as a stream, whose pieces all have the exec's number."""
    output = await _output(scratch, exec_.shell_stream_args)
    pieces = [ShellStream() for _ in range(4)]
    pieces[0].start.SetInParent()
    pieces[1].stdout.data, pieces[2].stderr.data = output.out, output.err
    # Signals are negative here, and a status is not.
    pieces[3].exit.code, pieces[3].exit.aborted = abs(output.status), output.timed_out
    results = [replies.result_of(exec_, piece) for piece in pieces]
    return [*(AgentClientMessage(exec_client_message=one) for one in results[:-1]), *replies.closed(results[-1])]


async def _output(scratch: Scratch, args: ShellArgs) -> _Output:
    """Run a command in the folder, or in one below it."""
    folder = scratch.folder.joinpath(*scratch.parts(args.working_directory))
    started = time.monotonic()
    process = await asyncio.create_subprocess_shell(
        args.command,
        cwd=folder,
        # Neither the proxy's key nor the service's token.
        env={"PATH": os.defpath, "HOME": str(scratch.folder), "LANG": "C.UTF-8"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,  # so that its children are ended with it
        # With the proxy, however that ends. What a command has started itself goes on then, but for what reads its end.
        preexec_fn=ending_with_parent(signal.SIGKILL),
    )
    limit = min(args.timeout / 1000, SHELL_SECONDS) if args.timeout > 0 else SHELL_SECONDS
    try:
        async with asyncio.timeout(limit):
            out, err = await asyncio.gather(_beginning(process.stdout), _beginning(process.stderr))
            await process.wait()
    except TimeoutError:
        return _Output(-1, "", "", int(limit * 1000), timed_out=True)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    took = int((time.monotonic() - started) * 1000)
    return _Output(process.returncode or 0, out, err, took, timed_out=False)


async def _beginning(stream: asyncio.StreamReader | None) -> str:
    """The first `LARGEST` bytes of an output as text, read to its end: a command may write more than memory holds."""
    kept = bytearray()
    while stream and (data := await stream.read(2**16)):
        kept += data[: LARGEST - len(kept)]
    return kept.decode(errors="replace")


# Each takes the args of its own kind of exec.
_TOOLS: Mapping[str, Callable[[Scratch, Any], Awaitable[Message]]] = {
    "read_args": _read,
    "ls_args": _ls,
    "grep_args": _grep,
    "write_args": _write,
    "shell_args": _shell,
}
_WRITING = frozenset({"write_args"})
_SHELLS = frozenset({"shell_args", "shell_stream_args"})
