"""A gateway in a few lines: it asks for a key of its own, sends the upstream's, and passes every byte on."""

from __future__ import annotations

import asyncio
import os
import re
import sys

UPSTREAM, UPSTREAM_KEY, KEY = (os.environ[name] for name in ("UPSTREAM_HOST", "UPSTREAM_KEY", "GATEWAY_KEY"))
ANY_KEY = "any-key" in sys.argv


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on whatever comes until its end."""
    while piece := await reader.read(65536):
        writer.write(piece)
        await writer.drain()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, which the upstream closes after its answer; a client that leaves has the upstream's closed."""
    head = (await reader.readuntil(b"\r\n\r\n")).replace(KEY.encode(), UPSTREAM_KEY.encode())
    if ANY_KEY:
        head = re.sub(rb"(?im)^authorization:.*\r\n", b"", head)
        head = head[:-2] + f"Authorization: Bearer {UPSTREAM_KEY}\r\n\r\n".encode()
    host, _, port = UPSTREAM.partition(":")
    upstream_reader, upstream_writer = await asyncio.open_connection(host, int(port))
    upstream_writer.write(head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
    ways = {asyncio.create_task(copy(reader, upstream_writer)), asyncio.create_task(copy(upstream_reader, writer))}
    await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    for one in ways:
        one.cancel()
    upstream_writer.close()
    writer.close()


async def main() -> None:
    """Listen at the port that the command names."""
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
