"""`transformers serve` with the weights of a GGUF file: `python serve_transformers.py MODEL.gguf PORT`.

By itself the server takes no such file: it asks the configuration for the class of the model, which is not in one
(`config.architectures` is None, transformers 5.24). So the weights, unpacked to 32 bits, and the tokenizer are written
into a folder where this is started, and the server is given that.
"""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import os
import sys
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer

NAME = "smollm2-135m"


def main(file: Path, port: str) -> None:
    """Write the model's folder, and become the server."""
    AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(NAME)
    read = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name)
    # A model that was read from packed weights is not saved; one of the same form that never was is.
    del read.config.quantization_config
    plain = AutoModelForCausalLM.from_config(read.config, dtype=read.dtype)
    plain.load_state_dict(read.state_dict())
    plain.save_pretrained(NAME)
    command = str(Path(sys.executable).with_name("transformers"))
    os.execv(  # noqa: S606 (it becomes the server, whose end is then its own)
        command, [command, "serve", NAME, "--host", "127.0.0.1", "--port", port, "--device", "cpu"]
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
