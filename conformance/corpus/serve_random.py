"""Serve a random tiny model with `transformers serve`: a Llama of two layers that nothing was taught.

    python serve_random.py TRANSFORMERS PORT

It writes a configuration, weights from a fixed seed, a tokenizer of bytes and a chat template into a folder, and
becomes the server. No model is fetched. What such a model says means nothing, so the server's form is judged.
"""

# It runs in the endpoint's own environment, where the packages of the next lines are installed.
from __future__ import annotations

import os
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

NAME = "random-llama"
TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL = ["<|end|>", "<|pad|>"]


def main() -> None:
    """Make the model in the folder where this runs, and serve it."""
    tokenizer = byte_tokenizer()
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=65536, eos_token_id=tokenizer.eos_token_id, bos_token_id=None,
        pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    folder = Path.cwd() / NAME
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    command, port = sys.argv[1:]
    words = [command, "serve", NAME, "--host", "127.0.0.1", "--port", port, "--device", "cpu"]
    cache = Path.cwd() / "cache"  # its list of models is that of a cache, which must be there
    cache.mkdir()
    # One thread: more of them only wait for each other over matrices this small.
    environment = {**os.environ, "HF_HUB_CACHE": str(cache), "OMP_NUM_THREADS": "1"}
    os.execve(command, words, environment)  # noqa: S606 (it becomes the server, whose end is then its own)


def byte_tokenizer() -> PreTrainedTokenizerFast:
    """A token for each byte, and those that end and fill a text."""
    vocabulary = {symbol: number for number, symbol in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    inner = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    inner.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token=SPECIAL[0], pad_token=SPECIAL[1])
    tokenizer.chat_template = TEMPLATE
    return tokenizer


if __name__ == "__main__":
    main()
