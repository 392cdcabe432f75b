"""Teaches the test recogniser: a tiny Whisper that hears requests spoken by espeak-ng.

    .venv/bin/python packaging/test_recogniser/train_recogniser.py WORK [--minutes 70]
    .venv/bin/python packaging/test_recogniser/train_recogniser.py WORK --measure

WORK is a folder for spectra (400 MB) and check-points; a run that was stopped goes on from there.
The best weights so far always lie in tests/speech/test_recogniser. Every worker is a process with
one thread and batches of its own: that bears a busy computer better than threads that wait for one
another.
"""

from __future__ import annotations

import argparse
import copy
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import measuring
import phrases
import recordings
import shipping
import torch
from batches import Batch, Examples
from learner import Learner
from speaking import espeak
from tokenizers import Tokenizer
from torch import distributed
from torch.multiprocessing.spawn import spawn

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "tests" / "speech" / "test_recogniser"
PEAK_RATE = 2e-3
WARM_UP = 150
POSITIONS = 2_200
LONG_EVERY = 3
"""One batch of long sounds after so many pools of short ones."""


class Teacher:
    """The learner, its averaged weights, and how far it has come."""

    def __init__(self, work: Path, minutes: float, seed: int, rank: int, workers: int) -> None:
        self.work = work
        self.rank, self.workers = rank, workers
        self.seconds = minutes * 60
        self.known = phrases.read()
        self.words: Tokenizer = phrases.tokenizer(self.known)
        store = recordings.make(work, self.known, seed)
        sounds = {phrases.plain(word): espeak().sounds(word) for word in self.known.words}
        torch.manual_seed(seed)
        self.examples = Examples(store, self.words, sounds, seed + rank)
        self.learner = Learner(shipping.config(self.words), self.examples.letters)
        self.learner.whisper.model.encoder.embed_positions.requires_grad_(False)
        self.optimiser = torch.optim.AdamW(
            [item for item in self.learner.parameters() if item.requires_grad],
            lr=PEAK_RATE,
            betas=(0.9, 0.98),
            weight_decay=0.02,
            fused=True,
        )
        self.average = copy.deepcopy(self.learner)
        self.step, self.spent, self.best = 0, 0.0, math.inf
        self._point = work / "checkpoint.pt"
        if self._point.is_file():
            self._load(torch.load(self._point, weights_only=True))

    def _load(self, state: dict[str, Any]) -> None:
        self.learner.load_state_dict(state["learner"])
        self.average.load_state_dict(state["average"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.step, self.spent, self.best = state["step"], state["spent"], state["best"]
        self.examples.reseed(self.step * self.workers + self.rank)

    def save(self) -> None:
        """Keep the state; a stop in the middle leaves the one before."""
        state = {
            "learner": self.learner.state_dict(),
            "average": self.average.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "step": self.step,
            "spent": self.spent,
            "best": self.best,
        }
        beside = self._point.with_suffix(".new")
        torch.save(state, beside)
        beside.replace(self._point)

    def batches(self) -> Iterator[Batch]:
        """Without end."""
        pools = 0
        while True:
            longest = 3.5 if self.spent < 0.15 * self.seconds else 7.0
            yield from self.examples.batches(256, POSITIONS, longest)
            pools += 1
            if pools % LONG_EVERY == 0 and self.spent > 0.3 * self.seconds:
                yield from self.examples.batches(2, POSITIONS, 29.0 if pools % 2 else 14.0)

    def learn(self, batch: Batch) -> list[float]:
        """One step."""
        progress = min(1.0, self.spent / self.seconds)
        rate = PEAK_RATE * min(1, (self.step + 1) / WARM_UP)
        rate *= 0.02 + 0.98 * (1 + math.cos(math.pi * progress)) / 2
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        with torch.autocast("cpu", torch.bfloat16):
            words, sounds, places, right = self.learner(batch)
        loss = words + (1.0 - 0.7 * progress) * sounds + 0.4 * places
        self.optimiser.zero_grad()
        loss.backward()
        self._share()
        torch.nn.utils.clip_grad_norm_(self.learner.parameters(), 1.0)
        self.optimiser.step()
        keep = min(0.998, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            pairs = zip(self.average.parameters(), self.learner.parameters(), strict=True)
            for mean, item in pairs:
                mean.lerp_(item, 1 - keep)
        self.step += 1
        return [value.item() for value in (words, sounds, places, right)]

    def _share(self) -> None:
        """The mean of all workers' gradients, and the first one's time."""
        gradients = [item.grad for item in self.learner.parameters() if item.grad is not None]
        time_spent = torch.tensor([self.spent * self.workers if self.rank == 0 else 0.0])
        flat = torch.cat([*(item.flatten() for item in gradients), time_spent])
        distributed.all_reduce(flat)
        flat /= self.workers
        self.spent = float(flat[-1])
        at = 0
        for item in gradients:
            item.copy_(flat[at : at + item.numel()].view_as(item))
            at += item.numel()

    def run(self, export_every: float) -> None:
        """Until the time is over."""
        self.learner.train()
        total = [0.0] * 4
        exported = self.spent
        began = time.monotonic()
        for batch in self.batches():
            for at, value in enumerate(self.learn(batch)):
                total[at] += value / 50
            over = self.spent > self.seconds
            if self.rank:
                if over:
                    return
                continue
            self.spent += time.monotonic() - began
            began = time.monotonic()
            if self.step % 50 == 0:
                words, sounds, places, right = total
                print(
                    f"{self.step}: words {words:.3f} ({right:.3f} right), sounds {sounds:.3f}, "
                    f"places {places:.3f}, "
                    f"{self.spent:.0f} s",
                    flush=True,
                )
                total = [0.0] * 4
            if self.step % 200 == 0:
                self.save()
            if over or self.spent - exported > export_every:
                exported = self.spent
                self.export()
                self.save()
                began = time.monotonic()
            if over:
                return

    def export(self) -> None:
        """Put the averaged weights into their place where they are better than those there."""
        made = self.work / "exported"
        shipping.export(self.average.whisper, self.words, made)
        figure = measuring.quick(made, self.known)
        if figure <= self.best:
            self.best = figure
            shipping.place(made, SHIPPED)


def main() -> None:
    """Train or measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("work", type=Path)
    parser.add_argument("--minutes", type=float, default=70)
    parser.add_argument("--export-every", type=float, default=8, help="minutes")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--measure", action="store_true", help="only print the figures")
    args = parser.parse_args()
    if args.measure:
        print(measuring.whole(SHIPPED, phrases.read()))
        return
    args.work.mkdir(parents=True, exist_ok=True)
    recordings.make(args.work, phrases.read(), args.seed)
    (args.work / "meeting").unlink(missing_ok=True)
    spawn(worker, (args,), args.workers)  # type: ignore[no-untyped-call]


def worker(rank: int, args: argparse.Namespace) -> None:
    """One of the processes."""
    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo", f"file://{args.work / 'meeting'}", rank=rank, world_size=args.workers
    )
    teacher = Teacher(args.work, args.minutes, args.seed, rank, args.workers)
    teacher.run(args.export_every * 60)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
