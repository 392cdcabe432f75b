"""Vectors of texts, by tiny experts that are really run."""

from __future__ import annotations

import asyncio
import csv
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from jarvis_desktop.backends.local.backend import LocalBackend
from jarvis_desktop.backends.local.gpu_probe import GpuProbe
from jarvis_desktop.backends.local.pipelines.bert_encoder import read_tensors
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.task import Call
from jarvis_desktop.tasks.registry import DEFINITIONS
from tests.backends.tiny_words import REFERENCE

LIKE, VECTORS = "sentence-similarity", "feature-extraction"


def rows(artifact) -> tuple[list[str], np.ndarray]:
    with artifact.path.open(encoding="utf-8", newline="") as file:
        head, *body = csv.reader(file)
    assert head[:2] == ["text", "v1"]
    return [row[0] for row in body], np.array([row[1:] for row in body], float)


def share(said: str) -> int:
    return int(said.split(" are ")[1].split("%")[0])


def test_the_same_text_is_wholly_alike_and_another_less(bench):
    same = {"text_1": "the cat sat", "text_2": "the cat sat"}
    said = bench.text(LIKE, "tiny_words:vectors", same)
    assert said == "The two texts are 100% alike in meaning (cosine 1.00, by vectors)."
    other = {"text_1": "the cat sat", "text_2": "politics sport"}
    assert share(bench.text(LIKE, "tiny_words:vectors", other)) < 100


def test_both_texts_must_have_words(bench):
    with pytest.raises(InputError, match="Two texts"):
        bench.run(LIKE, "tiny_words:vectors", {"text_1": "the cat", "text_2": " "})


def test_a_text_becomes_a_table_with_one_vector_of_length_one(bench):
    table, said = bench.run(VECTORS, "tiny_words:vectors", {"text": "the cat\nsat"})
    assert (table.kind, table.name) == (Kind.TABLE, "vectors.csv")
    texts, vectors = rows(table)
    assert texts == ["the cat sat"]
    assert vectors.shape == (1, 4)
    assert np.linalg.norm(vectors[0]) == pytest.approx(1.0, abs=1e-4)
    assert said.text.startswith("1 vector of 4 numbers")


@pytest.mark.parametrize(
    ("each", "count"), [("text", 1), ("line", 3), ("paragraph", 2), ("sentence", 3)]
)
def test_each_part_gets_a_vector_if_that_is_wanted(bench, each, count):
    text = "The cat sat on the mat.\nIt is happy.\n\nA dog ran home."
    table, _ = bench.run(VECTORS, "tiny_words:vectors", {"text": text}, {"each": each})
    texts, vectors = rows(table)
    assert len(texts) == len(vectors) == count


def test_vectors_do_not_depend_on_what_is_beside_them(bench):
    """Padding must not leak into the mean."""
    text = "the cat\nthe dog ran home on the mat and it is happy\na"
    one, _ = bench.run(VECTORS, "tiny_words:plain_vectors", {"text": text}, {"each": "line"})
    for name, vector in zip(*rows(one), strict=True):
        alone, _ = bench.run(VECTORS, "tiny_words:plain_vectors", {"text": name})
        assert rows(alone)[1][0] == pytest.approx(vector, abs=1e-4)


def test_a_text_longer_than_the_expert_takes_is_read_to_its_end(bench):
    text = "the cat sat on the mat " * 20
    long, _ = bench.run(VECTORS, "tiny_words:vectors", {"text": text})
    other, _ = bench.run(VECTORS, "tiny_words:vectors", {"text": text + "politics " * 90})
    assert not np.allclose(rows(long)[1], rows(other)[1], atol=1e-3)
    assert len(bench.reports) > 1


def test_an_empty_text_has_no_vector(bench):
    with pytest.raises(InputError, match="no text"):
        bench.run(VECTORS, "tiny_words:vectors", {"text": " \n "}, {"each": "line"})


def test_settings_that_lead_out_of_the_experts_folder_are_refused(bench):
    with pytest.raises(ExpertError, match="not its own"):
        bench.run(VECTORS, "tiny_words:first_word_vectors", {"text": "the cat"})


@pytest.mark.parametrize(
    "kind", ["bert", "bert_with_another_activation", "roberta", "xlm_roberta", "mpnet"]
)
def test_vectors_are_those_of_transformers(bench, kind):
    table, _ = bench.run(VECTORS, f"tiny_words:{kind}", {"text": REFERENCE})
    expected = json.loads((bench.built(f"tiny_words:{kind}") / "expected.json").read_text())
    assert rows(table)[1][0] == pytest.approx(expected, abs=1e-4)


def test_weights_in_16_bits_are_read_as_well_and_other_numbers_are_not_weights(tmp_path):
    values = np.array([1.5, -2.0, 0.25], np.float32)
    upper = (values.view(np.uint32) >> 16).astype("<u2")
    parts = {
        "single": ("F32", values.tobytes()),
        "half": ("F16", values.astype("<f2").tobytes()),
        "brain": ("BF16", upper.tobytes()),
        "places": ("I64", np.arange(3).tobytes()),
    }
    header, body = {}, b""
    for name, (dtype, raw) in parts.items():
        offsets = [len(body), len(body) + len(raw)]
        header[name] = {"dtype": dtype, "shape": [3], "data_offsets": offsets}
        body += raw
    head = json.dumps(header).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(head).to_bytes(8, "little") + head + body)
    found = read_tensors(path)
    assert set(found) == {"single", "half", "brain"}
    for tensor in found.values():
        assert tensor.dtype == np.float32
        assert tensor.tolist() == values.tolist()


def test_sentences_are_compared_without_torch(bench, tmp_path):
    """Importing it takes longer than everything else together."""
    folder = bench.built("tiny_words:vectors")
    code = f"""
import sys
from pathlib import Path
from jarvis_desktop.backends.local.worker import ExpertLoader, serve
from jarvis_desktop.core.artifact import text_artifact
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.task import Call
loading = ExpertLoader(Expert("x", "sentence-similarity"), Path({str(folder)!r}))
texts = {{name: (text_artifact("the cat"),) for name in ("text_1", "text_2")}}
call = Call("sentence-similarity", texts, {{}}, Path({str(tmp_path)!r}))
print(serve(loading)(lambda *told: None, call)[0].text)
assert not {{"torch", "transformers"}} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("The two texts are 100% alike"), done.stderr


def test_an_expert_without_some_of_its_weights_cannot_be_loaded(bench):
    with pytest.raises(ExpertError, match="could not be loaded"):
        bench.run(VECTORS, "tiny_words:bert_without_a_layer", {"text": "the cat"})


class Installed:
    """One expert that is here."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def folder(self, expert: Expert) -> Path:
        return self.path

    def used(self, expert: Expert) -> None:
        pass


def test_several_calls_are_answered_together_as_each_alone(bench, tmp_path):
    """By one process of the local backend, in one exchange with it."""
    known = {each.type.name: each for each in DEFINITIONS}
    folder = bench.built("tiny_words:vectors")

    def call(task: str, number: int, **texts: str) -> Call:
        workdir = tmp_path / f"{task}-{number}"
        workdir.mkdir()
        given = {port: (text_artifact(text),) for port, text in texts.items()}
        return Call(task, given, {"each": "line"} if task == VECTORS else {}, workdir)

    async def together(task: str, calls: list[Call]) -> Sequence[Sequence[Artifact]]:
        backend = LocalBackend(known, Installed(folder), probe=GpuProbe(signs=lambda: False))
        try:
            candidate = Candidate(Expert("vectors", task), "local")
            return await backend.run_batch(candidate, calls, lambda share, words: None)
        finally:
            await backend.close()

    texts = ("the cat\nsat on the mat", "a dog", "it is politics\nsport\nhappy")
    found = asyncio.run(
        together(VECTORS, [call(VECTORS, at, text=text) for at, text in enumerate(texts)])
    )
    for text, (table, _) in zip(texts, found, strict=True):
        alone, _ = bench.run(VECTORS, "tiny_words:vectors", {"text": text}, {"each": "line"})
        assert rows(table)[0] == rows(alone)[0] == text.split("\n")
        assert rows(table)[1] == pytest.approx(rows(alone)[1], abs=1e-5)
    pairs = (("the cat sat", "the cat sat"), ("the cat sat", "politics sport"))
    calls = [call(LIKE, at, text_1=one, text_2=two) for at, (one, two) in enumerate(pairs)]
    same, other = asyncio.run(together(LIKE, calls))
    assert share(same[0].text or "") == 100
    assert share(other[0].text or "") < 100
    with pytest.raises(InputError, match="Two texts"):
        asyncio.run(together(LIKE, [calls[0], call(LIKE, 2, text_1="cat", text_2=" ")]))
