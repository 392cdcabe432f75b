"""Trains what reads everyday requests: the time, sums, timers, small talk, translations.

    python packaging/planner/train_everyday.py FOLDER

FOLDER holds clinc150_train.jsonl and slurp_devel.jsonl. A small network over the encoder's states
of a request says which tasks it asks for and what it chooses of them, or that it asks for none, and
whether it asks for what changes from day to day. It must be trained again after the encoder was.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
from pathlib import Path
from typing import Any

import corpus
import numpy as np
import people

from jarvis_desktop.backends.task_encoder import EVERYDAY, TaskEncoder
from jarvis_desktop.core.ports import LIVE_DATA, NO_TASK

SHIPPED = Path(__file__).parents[2] / "models" / "planner"
TASKS = (*dict.fromkeys([*people.CLINC_TASKS.values(), *people.SLURP_TASKS.values()]), NO_TASK)
HIDDEN, LIVE_HIDDEN = 192, 32
"""Units for what is asked for, and for whether that changes from day to day: beside each other, so
that neither disturbs the other."""
EPOCHS, BATCH, RATE, DROP, DECAY = 10, 128, 2e-3, 0.3, 1e-3
OWN_TIMES = 4
"""How often each request of our own counts: there are few, and only they ask for other tasks."""
LIVE_NETWORKS = 5
"""Whose answers about live data are averaged: so few questions leave much to chance."""
LIVE_TIMES = 10
"""How often each question with and without live data is read in an epoch."""


def own_requests() -> list[people.Said]:
    """The requests of `inventories/assistant.txt`."""
    path = corpus.INVENTORIES / "assistant.json"
    names = [tool["id"] for tool in json.loads(path.read_text(encoding="utf-8"))["tools"]]
    found: list[people.Said] = []
    for line in path.with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        text, _, graph = line.partition("\t")
        asked = [] if graph == "-" else [names[int(n.split(":")[0]) - 1] for n in graph.split()]
        chosen = [people.choice(task, text) for task in asked]
        found.append((text, (*asked, *(name for name in chosen if name))))
    return found


def live_questions() -> tuple[list[str], list[bool]]:
    """The questions of `live_questions.txt`, and which of them need live data."""
    path = Path(__file__).with_name("live_questions.txt")
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line[0] in "+-"]
    return [line[2:] for line in lines], [line[0] == "+" for line in lines]


def samples(folder: Path, dice: random.Random) -> list[people.Said]:
    """Everything to learn from."""
    said = people.labelled(folder, "train", "oos_train", "devel")
    own = own_requests()
    joined = people.joined(said + own, dice, 2500)
    return said + own + people.slips(said + own, dice, others=2500) + joined


def targets(said: list[people.Said], names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """What to say of each name, and how much that counts: a choice only where its task is asked."""
    wanted, weight = np.zeros((2, len(said), len(names)), np.float32)
    for row, (_, asked) in enumerate(said):
        for column, name in enumerate(names):
            task = name.partition(" ")[0]
            wanted[row, column] = name in asked if name != NO_TASK else not asked
            weight[row, column] = task == name or task in asked
    return wanted, weight


def train(
    inputs: np.ndarray,
    wanted: np.ndarray,
    weight: np.ndarray,
    *,
    hidden_units: int,
    seed: int = 1,
) -> list[np.ndarray]:
    """Two layers with Adam, dropout and a rate that falls to nothing: weights and biases."""
    dice = np.random.default_rng(seed)
    sizes = (inputs.shape[1], hidden_units, wanted.shape[1])
    layers = []
    for rows, columns in itertools.pairwise(sizes):
        layers += [dice.normal(0, rows**-0.5, (rows, columns)), np.zeros(columns)]
    layers = [layer.astype(np.float32) for layer in layers]
    means, squares = ([np.zeros_like(layer) for layer in layers] for _ in range(2))
    steps = EPOCHS * (len(inputs) // BATCH)
    for step in range(steps):
        if step % (len(inputs) // BATCH) == 0:
            order = dice.permutation(len(inputs))
        at = order[(step * BATCH) % (len(inputs) - BATCH) :][:BATCH]
        first = np.maximum(inputs[at] @ layers[0] + layers[1], 0)
        kept = (dice.random(first.shape, dtype=np.float32) > DROP) / np.float32(1 - DROP)
        hidden = first * kept
        likely = 1 / (1 + np.exp(-(hidden @ layers[2] + layers[3])))
        off = (likely - (wanted[at] * 0.98 + 0.001)) * weight[at] / BATCH
        back = (off @ layers[2].T) * kept * (first > 0)
        slopes = [inputs[at].T @ back, back.sum(0), hidden.T @ off, off.sum(0)]
        rate = RATE * (1 - step / steps)
        for place, slope in enumerate(slopes):
            means[place] = 0.9 * means[place] + 0.1 * slope
            squares[place] = 0.999 * squares[place] + 0.001 * slope**2
            size = np.sqrt(squares[place] / (1 - 0.999 ** (step + 1))) + 1e-8
            layers[place] -= rate * means[place] / (1 - 0.9 ** (step + 1)) / size
            layers[place] -= rate * DECAY * layers[place] * (layers[place].ndim > 1)
    return layers


def beside(one: list[np.ndarray], other: list[np.ndarray]) -> list[np.ndarray]:
    """The network that has the units and the answers of both."""
    answers = np.zeros((len(one[2]) + len(other[2]), len(one[3]) + len(other[3])), np.float32)
    answers[: len(one[2]), : len(one[3])] = one[2]
    answers[len(one[2]) :, len(one[3]) :] = other[2]
    return [
        np.hstack([one[0], other[0]]),
        np.hstack([one[1], other[1]]),
        answers,
        np.hstack([one[3], other[3]]),
    ]


def averaged(networks: list[list[np.ndarray]]) -> list[np.ndarray]:
    """The network whose answers are the means of theirs."""
    first, before, second, after = zip(*networks, strict=True)
    count = np.float32(len(networks))
    return [np.hstack(first), np.hstack(before), np.vstack(second) / count, np.mean(after, 0)]


class Scale:
    """Scales states to a mean of 0 and a spread of 1."""

    def __init__(self, states: np.ndarray) -> None:
        self.center, self.spread = states.mean(0), states.std(0) + 1e-6

    def done(self, states: np.ndarray) -> np.ndarray:
        """The scaled states."""
        return np.asarray((states - self.center) / self.spread)

    def undone(self, layers: list[np.ndarray]) -> list[np.ndarray]:
        """The network that answers the same to states that are not scaled."""
        first = layers[0] / self.spread[:, None]
        return [first, layers[1] - self.center @ first, *layers[2:]]


def main() -> None:
    """Write models/planner/everyday.npz."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    said = samples(args.folder, random.Random(5))
    encoder = TaskEncoder(SHIPPED)
    own = {text for text, _ in own_requests()}
    rows = [at for at, (text, _) in enumerate(said) for _ in range(OWN_TIMES if text in own else 1)]
    names = (*TASKS, *people.CHOICES)
    wanted, weight = targets([said[at] for at in rows], names)
    states = encoder.features([text for text, _ in said])
    scale = Scale(states)
    layers = scale.undone(train(scale.done(states)[rows], wanted, weight, hidden_units=HIDDEN))
    questions, live = live_questions()
    states = encoder.features(questions)
    scale = Scale(states)
    asked = np.tile(scale.done(states), (LIVE_TIMES, 1))
    is_live = np.tile(np.array(live, np.float32)[:, None], (LIVE_TIMES, 1))
    of_live = [
        train(asked, is_live, np.ones_like(is_live), hidden_units=LIVE_HIDDEN, seed=seed)
        for seed in range(1, LIVE_NETWORKS + 1)
    ]
    layers = beside(layers, scale.undone(averaged(of_live)))
    halves: dict[str, Any] = {
        f"layer{place}": layer.astype(np.float16) for place, layer in enumerate(layers)
    }
    halves["layer1"] = layers[1].astype(np.float32)  # sums of many small numbers
    np.savez(SHIPPED / EVERYDAY, names=np.array((*names, LIVE_DATA)), **halves)


if __name__ == "__main__":
    main()
