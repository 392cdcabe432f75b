"""The language model and the bell are what their scripts build."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from jarvis_desktop.paths import shipped
from tests.benchmarks.recognition import REQUESTS

PACKAGING = Path(__file__).parents[2] / "packaging"


def script(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, PACKAGING / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def builder():
    return script("build_command_lm")


def test_the_language_model_is_what_the_script_builds(builder, tmp_path):
    ours = shipped("resources", "speech", "commands.arpa")
    builder.main(tmp_path / "commands.arpa")
    assert (tmp_path / "commands.arpa").read_text() == ours.read_text()
    assert ours.stat().st_size < 1_000_000


def test_the_shares_after_each_word_add_up_to_one(builder):
    corpus = builder.sentences(300, seed=1)
    text = builder.arpa(corpus, {"hello": 0.5, "read": 0.5})
    share: dict[tuple[str, ...], float] = {}
    back: dict[tuple[str, ...], float] = {}
    for line in text.splitlines():
        first, _, rest = line.partition(" ")
        if rest and first.replace("-", "").replace(".", "").isdigit():
            *words, last = rest.split()
            if last.lstrip("-").replace(".", "").isdigit():
                back[tuple(words)] = 10 ** float(last)
            else:
                words.append(last)
            share[tuple(words)] = 10 ** float(first)
    words = [gram[0] for gram in share if len(gram) == 1 and gram[0] != "<s>"]

    def after(history: tuple[str, ...], word: str) -> float:
        if (*history, word) in share or not history:
            return share[(*history, word)]
        return back.get(history, 1.0) * after(history[1:], word)

    histories = [(), ("<s>",), ("the",), ("<s>", "read"), ("read", "the"), ("hello",)]
    for history in histories:
        assert sum(after(history, word) for word in words) == pytest.approx(1, abs=0.02), history


def test_no_measured_request_is_a_sentence_it_was_built_from(builder):
    built_from = {" ".join(words) for words in builder.sentences(60_000, seed=builder.SEED)}
    assert built_from.isdisjoint(REQUESTS)


def test_the_bell_is_what_the_script_builds(tmp_path):
    script("build_sounds").main(tmp_path)
    built = (tmp_path / "ring.wav").read_bytes()
    ours = shipped("resources", "sounds", "ring.wav").read_bytes()
    assert len(built) == len(ours)
    # Sines of different processors may round differently.
    assert sum(a != b for a, b in zip(built, ours, strict=True)) < len(ours) / 100
