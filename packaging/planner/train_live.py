"""Trains the check for live data: one weight for each number of the encoder's direction of a text.

    python packaging/planner/train_live.py

Logistic regression with a ridge penalty, by Newton's method, on live_questions.txt. It must be run
again after the encoder was trained.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from jarvis_desktop.backends.task_encoder import TaskEncoder

SHIPPED = Path(__file__).parents[2] / "models" / "planner"
QUESTIONS = Path(__file__).with_name("live_questions.txt")
PENALTY = 0.1
STEPS = 30


def main() -> None:
    """Write models/planner/live_data.json."""
    lines = [line for line in QUESTIONS.read_text("utf-8").splitlines() if line[0] in "+-"]
    live = np.array([line[0] == "+" for line in lines], dtype=float)
    found = np.array(TaskEncoder(SHIPPED).directions([line[2:] for line in lines]))
    units = found / np.linalg.norm(found, axis=1, keepdims=True)
    center = units.mean(0)
    inputs = np.c_[units - center, np.ones(len(lines))]
    penalty = PENALTY * np.eye(inputs.shape[1])
    penalty[-1, -1] = 0.0
    weights = np.zeros(inputs.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (inputs * (likely * (1 - likely))[:, None]) + penalty
        weights -= np.linalg.solve(slope, inputs.T @ (likely - live) + penalty @ weights)
    bias = weights[-1] - center @ weights[:-1]
    shipped = {"bias": round(float(bias), 3), "weights": [round(float(w), 3) for w in weights[:-1]]}
    (SHIPPED / "live_data.json").write_text(json.dumps(shipped) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
