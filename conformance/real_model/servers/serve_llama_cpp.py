"""llama.cpp's own server at a port of loopback, as xllamacpp has it: `python serve_llama_cpp.py MODEL.gguf PORT`."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import signal
import sys
import threading

import xllamacpp  # type: ignore[import-untyped]

NAME = "smollm2-135m"
ROOM = 8192
"""Tokens of a request and its answer, for each of the slots; the model was trained for as many."""
SLOTS = 2


def main(file: str, port: int) -> None:
    """Serve until SIGTERM."""
    asked = xllamacpp.CommonParams()
    asked.model.path = file
    asked.model_alias = {NAME}
    asked.hostnames = ["127.0.0.1"]
    asked.port = port
    asked.n_ctx = ROOM * SLOTS
    asked.n_parallel = SLOTS
    # The template of the model's file, by which calls of tools are written and read.
    asked.use_jinja = True
    # More threads of a model this small mostly wait for each other, and turn in circles meanwhile.
    asked.cpuparams.n_threads = asked.cpuparams_batch.n_threads = 1
    # The likeliest token each time: a run is to be like the one before it.
    asked.sampling.temp = 0.0
    server = xllamacpp.Server(asked)
    over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    print(server.listening_address, flush=True)  # noqa: T201 (without it the server would not be held until then)
    over.wait()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
