"""Builds tiny chat LLMs with random weights, as an installed expert lies on the disk.

`python -m tests.llm.tiny FOLDER` builds them all, in a process of its own: the libraries stay out
of that of the tests. They answer with words of tests.backends.tiny for as long as they may, and
end with the last token; "endless" does not.
"""

# mypy: ignore-errors

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest

from tests.built import built_once

PLAIN = "{% for m in messages %}{{ m.role }} : {{ m.content }} {% endfor %}assistant :"
TEMPLATES = {
    "chatter": PLAIN,
    "endless": PLAIN,
    "bare": None,
    "strict": "{% for m in messages %}{% if m.role == 'system' %}"
    "{{ raise_exception('System role not supported') }}{% endif %}{% endfor %}" + PLAIN,
    "thinker": PLAIN + "{% if enable_thinking %} <think>\n{% endif %}",
}
WINDOW = 4096


def build(folder: Path, template: str | None, *, ends: bool) -> None:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from tests.backends.tiny import save, word_tokenizer

    torch.manual_seed(1)
    tokenizer = word_tokenizer()
    tokenizer.chat_template = template
    network = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=WINDOW,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=0,
        )
    )
    network.generation_config.suppress_tokens = [0, 1, 3, 4] if ends else [0, 1, 2, 3, 4]
    if ends:
        network.generation_config.min_length = 2 * WINDOW  # it does not end before it is forced to
        network.generation_config.forced_eos_token_id = 2
    mark(save(folder, network, tokenizer))


def mark(folder: Path) -> Path:
    """Write the marker that a fetched expert has."""
    files = {
        path.name: {
            "size": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in sorted(folder.iterdir())
    }
    marker = {"id": folder.name, "repo": "tiny/tiny", "revision": "", "files": files}
    (folder / "expert.json").write_text(json.dumps(marker))
    return folder


@pytest.fixture(scope="session")
def tiny_llms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tiny LLMs, built once a run."""
    return built_once(tmp_path_factory, "tests.llm.tiny")


if __name__ == "__main__":
    for name, template in TEMPLATES.items():
        build(Path(sys.argv[1]) / name, template, ends=name != "endless")
