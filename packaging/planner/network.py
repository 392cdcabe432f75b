"""The network of the embedded planner: a text encoder, and a decoder over descriptions of tasks."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import BertModel

WIDTH, HEADS = 256, 4
LONGEST = 160
"""Tokens for which the decoder has positions."""


class Layer(nn.Module):
    """Tasks look at the words of the request, then at each other (pre-norm)."""

    def __init__(self, drop: float = 0.1) -> None:
        super().__init__()
        self.cross = nn.MultiheadAttention(WIDTH, HEADS, dropout=drop, batch_first=True)
        self.among = nn.MultiheadAttention(WIDTH, HEADS, dropout=drop, batch_first=True)
        self.forward_net = nn.Sequential(
            nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3))
        self.drop = nn.Dropout(drop)

    def forward(self, tasks: Tensor, words: Tensor, padding: Tensor | None) -> Tensor:
        """tasks (b, n, WIDTH), words (b, l, WIDTH), padding (b, l) True where there is no word."""
        at = self.norms[0](tasks)
        seen = self.cross(at, words, words, key_padding_mask=padding, need_weights=False)[0]
        tasks = tasks + self.drop(seen)
        at = self.norms[1](tasks)
        tasks = tasks + self.drop(self.among(at, at, at, need_weights=False)[0])
        changed: Tensor = tasks + self.drop(self.forward_net(self.norms[2](tasks)))
        return changed


class Network(nn.Module):
    """Which tasks a request asks for, which result goes where, and which comes first.

    Tasks are queries, made of the encoder's own reading of their descriptions, in the manner of
    DETR (Carion et al. 2020); where a task is spoken of is a pointer over the words (Vinyals et al.
    2015), and its place feeds the scores of pairs.
    """

    def __init__(self, base: Path) -> None:
        super().__init__()
        self.encoder = BertModel.from_pretrained(
            base,
            add_pooling_layer=False,
            attn_implementation="sdpa",
            attention_probs_dropout_prob=0.0,
        )
        self.encoder.embeddings.requires_grad_(
            False
        )  # words that are not trained on keep their places
        hidden = self.encoder.config.hidden_size
        self.words = nn.Linear(hidden, WIDTH)
        self.query = nn.Linear(hidden, WIDTH)
        self.position = nn.Parameter(torch.randn(LONGEST, WIDTH) * 0.02)
        self.layers = nn.ModuleList(Layer() for _ in range(2))
        self.norm = nn.LayerNorm(WIDTH)
        self.node = nn.Linear(WIDTH, 1)
        self.likeness = nn.Parameter(torch.tensor([4.0, -2.0]))
        self.pointer_query = nn.Linear(WIDTH, 96)
        self.pointer_key = nn.Linear(WIDTH, 96)
        self.source = nn.Linear(WIDTH, 64)
        self.target = nn.Linear(WIDTH, 64)
        self.features = nn.Linear(5, 64)
        self.pair = nn.Linear(64, 2)

    def encode(self, ids: Tensor, mask: Tensor) -> Tensor:
        """(b, l) tokens to (b, l, hidden) states."""
        states: Tensor = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        return states

    def describe(self, ids: Tensor, mask: Tensor) -> Tensor:
        """(n, l) tokens of descriptions to (n, hidden) vectors: the mean of the states."""
        weight = mask.unsqueeze(-1).to(torch.float32)
        return (self.encode(ids, mask) * weight).sum(1) / weight.sum(1)

    def forward(
        self, states: Tensor, mask: Tensor, tasks: Tensor, fits: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Logits of nodes (b, n), of links and of order (b, n, n), and places in tokens (b, n).

        `tasks` (n, hidden) are descriptions; `fits` (n, n) is 1 where a result of i is taken by j.
        """
        nodes, where, seen = self.find(states, mask == 0, tasks)
        links, order = self.relate(seen, where, fits)
        return nodes, links, order, where

    def find(
        self, states: Tensor, padding: Tensor | None, tasks: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Logits of nodes and their places in tokens (b, n), and what each task has seen of the
        request and of the other tasks (b, n, WIDTH)."""
        words = self.words(states) + self.position[: states.size(1)]
        alike = torch.einsum(
            "bld,kd->bkl", functional.normalize(states, dim=-1), functional.normalize(tasks, dim=-1)
        )
        if padding is not None:
            alike = alike.masked_fill(padding.unsqueeze(1), -1.0)
        seen = self.query(tasks.unsqueeze(0)).expand(states.size(0), -1, -1)
        for layer in self.layers:
            seen = layer(seen, words, padding)
        seen = self.norm(seen)
        nodes = self.node(seen).squeeze(-1) + self.likeness[0] * alike.max(-1).values
        nodes = nodes + self.likeness[1]
        points = torch.einsum("bkd,bld->bkl", self.pointer_query(seen), self.pointer_key(words))
        points = points / 96**0.5
        if padding is not None:
            points = points.masked_fill(padding.unsqueeze(1), -1e4)
        count = torch.arange(states.size(1), dtype=states.dtype)
        return nodes, (points.softmax(-1) * count).sum(-1), seen

    def relate(self, seen: Tensor, where: Tensor, fits: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of links and of order (b, n, n)."""
        apart = where.unsqueeze(1) - where.unsqueeze(2)
        features = torch.stack(
            [
                apart / 32,
                torch.tanh(apart / 3),
                apart.abs() / 32,
                torch.tanh(apart / 12),
                fits.unsqueeze(0).expand_as(apart),
            ],
            -1,
        )
        pairs = self.source(seen).unsqueeze(2) + self.target(seen).unsqueeze(1)
        scored = self.pair(functional.gelu(pairs + self.features(features)))
        return scored[..., 0], scored[..., 1]
