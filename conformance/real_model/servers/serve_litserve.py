"""LitServe's server of chat completions, the model run by transformers: `python serve_litserve.py MODEL.gguf PORT`.

The wire is LitServe's; the application says what the model writes, and how many tokens that is, as its guide shows.
"""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import litserve  # type: ignore[import-untyped]
from transformers import AutoModelForCausalLM, AutoTokenizer, TextIteratorStreamer

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 256
"""Tokens of an answer whose request names no limit."""


class Api(litserve.LitAPI):  # type: ignore[misc]
    """What is served: one answer at a time, the likeliest token each time."""

    def __init__(self, file: Path) -> None:
        super().__init__(spec=litserve.OpenAISpec())
        self.file = file

    def setup(self, _device: str) -> None:
        """Read the model, in the process that answers."""
        self.tokenizer = AutoTokenizer.from_pretrained(self.file.parent, gguf_file=self.file.name)
        self.model = AutoModelForCausalLM.from_pretrained(self.file.parent, gguf_file=self.file.name)

    def predict(self, asked: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 (LitServe's, which has no types)
        """The pieces of an answer, and then how many tokens it has."""
        messages = [{"role": one.role, "content": _text(one.content)} for one in asked.messages]
        given = self.tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        streamer = TextIteratorStreamer(self.tokenizer, skip_prompt=True, skip_special_tokens=True)
        prompt, written = given["input_ids"].shape[1], [0]

        def generate() -> None:
            made = self.model.generate(
                **given,
                streamer=streamer,
                do_sample=False,
                max_new_tokens=asked.max_completion_tokens or asked.max_tokens or MOST,
            )
            written[0] = made.shape[1] - prompt

        thread = threading.Thread(target=generate)
        thread.start()
        for text in streamer:
            yield {"role": "assistant", "content": text}
        thread.join()
        counts = {"prompt_tokens": prompt, "completion_tokens": written[0], "total_tokens": prompt + written[0]}
        yield {"role": "assistant", "content": "", **counts}


def _text(content: Any) -> str:  # noqa: ANN401 (a text, or parts of it)
    if isinstance(content, list):
        return "".join(getattr(part, "text", None) or "" for part in content)
    return content or ""


if __name__ == "__main__":
    server = litserve.LitServer(Api(Path(sys.argv[1])), accelerator="cpu", timeout=False)
    server.run(host="127.0.0.1", port=int(sys.argv[2]), generate_client_file=False, num_api_servers=1)
