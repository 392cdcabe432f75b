from __future__ import annotations

import numpy as np
import pytest

from jarvis_desktop.tasks.documents import tabular
from jarvis_desktop.tasks.documents.tabular import bayes, features, learn, neighbours


def test_columns_become_measures_and_choices_in_one_scale():
    found = features(
        [
            ["1", "2", "3", "4", "5", "6"],  # numbers the rows: says nothing
            ["$10", "20", "", "40", "50", "60"],
            ["red", "Red", "blue", "blue", "red", ""],
            ["", "", "", "", "", ""],
        ]
    )
    assert found.measures.shape == (6, 1)
    assert np.isnan(found.measures[2, 0])
    assert np.nanstd(found.measures) == pytest.approx(1.0)
    assert found.choices.tolist() == [[1, 0], [1, 0], [0, 1], [0, 1], [1, 0], [0, 0]]


def test_a_column_of_text_becomes_its_words():
    texts = [f"number {at} is {'good' if at % 2 else 'bad'}" for at in range(60)]
    found = features([texts])
    assert found.width == 0
    assert {tuple(column) for column in found.choices.T} >= {
        tuple(float(at % 2 == 1) for at in range(60))
    }


def test_a_large_table_is_kept_within_the_memory(monkeypatch):
    monkeypatch.setattr(tabular, "MAX_CELLS", 60 * 5)
    texts = [" ".join(f"w{(at + step) % 30}" for step in range(9)) for at in range(60)]
    found = features([texts, texts])
    assert found.joined.shape[1] <= 5


@pytest.mark.parametrize("way", [bayes, neighbours])
def test_each_method_tells_two_clouds_apart(way):
    chance = np.random.default_rng(1)
    middles = np.repeat([-2.0, 2.0], 50)
    rows = features([[f"{value:.3f}" for value in chance.normal(middles)] for _ in range(2)])
    answers = [0.0] * 50 + [1.0] * 50
    shares = way(rows, answers, 2)(rows.joined)
    assert shares.shape == (100, 2)
    assert shares.sum(1) == pytest.approx(np.ones(100))
    assert (shares.argmax(1) == np.array(answers)).mean() > 0.95


def test_the_method_is_chosen_by_rows_that_were_held_back(monkeypatch):
    monkeypatch.setattr(tabular, "MAX_CHECKED", 80)
    chance = np.random.default_rng(1)
    # Alike in each measure alone, told apart by both together: no work for naive Bayes.
    one, other = chance.choice([-1.0, 1.0], 200), chance.choice([-1.0, 1.0], 200)
    columns = [[f"{v + chance.normal(0, 0.1):.3f}" for v in axis] for axis in (one, other)]
    learnt = learn(
        features(columns), [float(a * b > 0) for a, b in zip(one, other, strict=True)], 2
    )
    assert learnt.name == "nearest neighbours"
    assert learnt.right == 1.0
    assert learnt.plain < 0.7
