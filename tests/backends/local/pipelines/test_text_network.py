"""Networks for texts: in numpy they give what transformers does, without importing torch."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from jarvis_desktop.backends.local.pipelines.bert_encoder import TokenWindow
from jarvis_desktop.backends.local.pipelines.text_network import load_text_network
from jarvis_desktop.backends.local.worker import ExpertLoader
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.expert import Expert
from tests.backends.tiny_words import HEADS, PAIR

MASKED = HEADS[0]


def network(bench, builder: str, head: str):
    folder = bench.built(f"tiny_words:{builder}") / head
    return load_text_network(ExpertLoader(Expert("x", "any"), folder), head), json.loads(
        (folder / "expected.json").read_text()
    )


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("kind", ["bert", "distilbert", "roberta", "xlm_roberta", "mpnet"])
def test_results_are_those_of_transformers(bench, kind, head):
    found, expected = network(bench, f"{kind}_heads", head)
    window = found.pair(*PAIR)
    assert window.ids == expected["ids"]
    (result,) = found.compute([window])
    assert result == pytest.approx(np.array(expected["result"]), abs=1e-4)
    (only,) = found.compute([TokenWindow(window.ids, window.types, only=2)])
    if result.ndim > 1:
        assert only == pytest.approx(result[2:3], abs=1e-6)


def test_each_window_of_a_long_text_has_the_question(bench):
    found, _ = network(bench, "bert_heads", "AutoModelForQuestionAnswering")
    question, text = PAIR[0], "Ada met Bo in Kyoto . " * 90
    windows = found.windows(text, question)
    assert len(windows) > 2
    head = found.pair(question, "Ada").ids[:5]
    covered = set()
    for window in windows:
        assert len(window.ids) <= found.longest == 256
        assert window.ids[:5] == head
        assert window.types[:6] == [0] * 6
        assert window.types[6] == 1
        assert window.offsets[:6] == [(0, 0)] * 6
        covered |= {text[start:end] and start for start, end in window.offsets if end}
    assert covered == {at for at in range(len(text)) if text[at] != " " and text[at - 1] == " "} | {
        0
    }
    with pytest.raises(ExpertError, match="question is too long"):
        found.windows(text, "Ada " * 250)


def test_texts_are_sorted_read_and_filled_in_without_torch(bench, tmp_path):
    """Importing it takes longer than everything else together."""
    folders = {
        "text-classification": str(bench.built("tiny_words:judge")),
        "token-classification": str(bench.built("tiny_words:labeller")),
        "question-answering": str(bench.built("tiny_words:reader")),
        "fill-mask": str(bench.built("tiny:gap_filler")),
    }
    code = f"""
import sys
from pathlib import Path
from jarvis_desktop.backends.local.worker import ExpertLoader, serve
from jarvis_desktop.core.artifact import text_artifact
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.task import Call
given = {{"text": "Ada met Bo in Paris ___ .", "question": "Ada met Bo in ?",
         "context": "Ada met Bo in Paris ."}}
inputs = {{name: (text_artifact(text),) for name, text in given.items()}}
for task, folder in {folders!r}.items():
    run = serve(ExpertLoader(Expert("x", task), Path(folder)))
    call = Call(task, inputs, {{}}, Path({str(tmp_path)!r}))
    print(run(lambda *told: None, call)[0].text.splitlines()[0])
assert not {{"torch", "transformers"}} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "positive: 99%",
        "People: Ada, Bo",
        "Paris",
        "Ada met Bo in Paris mat .",
    ], done.stderr
