"""A gateway in a few lines: it asks for a key of its own, sends the upstream's instead, and passes every byte on.

With `any-key` as its second argument it takes every key.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys

UPSTREAM, UPSTREAM_KEY, KEY = (os.environ[name] for name in ("UPSTREAM_HOST", "UPSTREAM_KEY", "GATEWAY_KEY"))
GIVEN = rb"(?i)(?<=\r\nauthorization: bearer )[^\r]*" if "any-key" in sys.argv else re.escape(KEY.encode())
"""What becomes the upstream's key."""
CLOSING = 2.0
"""Seconds that a client has to close its end."""


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, request: bool) -> None:
    """Pass on whatever comes until its end."""
    while piece := await reader.read(2**16):
        # A key that is torn over two pieces would be missed: the heads of the suite's requests come in one.
        writer.write(re.sub(GIVEN, UPSTREAM_KEY.encode(), piece) if request else piece)
        await writer.drain()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection: when either end closes it, the other's is closed, once the client has read what was said."""
    host, _, port = UPSTREAM.partition(":")
    upstream_reader, upstream_writer = await asyncio.open_connection(host, int(port))
    ways = (copy(reader, upstream_writer, request=True), copy(upstream_reader, writer, request=False))
    tasks = [asyncio.create_task(way) for way in ways]
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if tasks[1] in done:
        # An upstream that closes may not have read all of a request. Were the connection closed with something unread,
        # the client would lose the answer.
        writer.write_eof()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(CLOSING):
                while await reader.read(2**16):
                    pass
    upstream_writer.close()
    writer.close()


async def main() -> None:
    """Listen at the port that the first argument names."""
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
