"""The forward pass of a small Whisper over Hugging Face's modules, for short sounds.

Whisper always hears 30 seconds, most of them padding. All padding looks alike but for its place:
so a few places of it, drawn anew each time and weighted for the others, stand for the rest.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from batches import IGNORED, Batch
from torch import Tensor, nn
from torch.nn import functional

POSITIONS = 1_500
DRAWN = 16
"""Places of the padding that stand for all."""


class Learner(nn.Module):
    """A Whisper, and a head on its encoder that spells sounds and is dropped afterwards."""

    def __init__(self, config: Any, letters: int, dropout: float = 0.0) -> None:
        super().__init__()
        from transformers import WhisperForConditionalGeneration

        self.whisper: Any = WhisperForConditionalGeneration(config)
        self.speller = nn.Linear(config.d_model, letters)
        self._heads = config.encoder_attention_heads
        self._dropout = dropout

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The losses of words, sounds and places, and the share of words that are right."""
        states, bias = self.encode(batch.mel)
        out, looked = self.decode(batch.inputs, states, bias)
        logits = out.float()
        words = functional.cross_entropy(
            logits.flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORED
        )
        meant = batch.targets != IGNORED
        right = ((logits.argmax(2) == batch.targets) & meant).sum() / meant.sum()
        heard = batch.mel.shape[2] // 2
        spelled = functional.log_softmax(self.speller(states[:, :heard]).float(), 2)
        sounds = functional.ctc_loss(
            spelled.transpose(0, 1),
            batch.sounds,
            batch.lengths,
            batch.sound_lengths,
            zero_infinity=True,
        )
        within = _within(batch.spans, states.shape[1])
        attention = _missed(looked, within) + self._unnamed(states, within, batch.targets)
        return words, sounds, attention, right

    def _unnamed(self, states: Tensor, within: Tensor, targets: Tensor) -> Tensor:
        """How badly the states of a word's places, on the whole, tell its token."""
        share = within.float() / within.sum(2, keepdim=True).clamp(min=1)
        named = within.any(2)
        pooled = (share @ states.float())[named]
        logits = pooled @ self.whisper.model.decoder.embed_tokens.weight.T
        loss = functional.cross_entropy(logits.float(), targets[named], reduction="sum")
        return loss / named.sum().clamp(min=1)

    def encode(self, mel: Tensor) -> tuple[Tensor, Tensor]:
        """States of the positions, and what is added to the attention that each gets."""
        encoder = self.whisper.model.encoder
        places = encoder.embed_positions.weight
        heard = self._convolved(mel)
        count = heard.shape[1]
        heard = heard + places[:count]
        bias = mel.new_zeros(count)
        left = POSITIONS - count
        if left > 0:
            drawn = min(DRAWN, left)
            chosen = count + torch.randperm(left)[:drawn]
            padding = self._convolved(mel.new_zeros(1, mel.shape[1], 16))[:, 4]
            rest = (padding + places[chosen]).expand(len(heard), -1, -1)
            heard = torch.cat((heard, rest), 1)
            bias = torch.cat((bias, bias.new_full((drawn,), math.log(left / drawn))))
        for layer in encoder.layers:
            normed = layer.self_attn_layer_norm(heard)
            heard = heard + self._drop(self._attend(layer.self_attn, normed, normed, bias))
            heard = heard + self._drop(_fed(layer, heard))
        return encoder.layer_norm(heard), bias

    def decode(self, tokens: Tensor, states: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of what follows each token, and where the last layer looked for it."""
        decoder = self.whisper.model.decoder
        length = tokens.shape[1]
        written = decoder.embed_tokens(tokens) + decoder.embed_positions.weight[:length]
        written = self._drop(written)
        looked = written
        for layer in decoder.layers:
            normed = layer.self_attn_layer_norm(written)
            written = written + self._drop(self._attend(layer.self_attn, normed, normed, None))
            normed = layer.encoder_attn_layer_norm(written)
            seen, looked = self._look(layer.encoder_attn, normed, states, bias)
            written = written + self._drop(seen)
            written = written + self._drop(_fed(layer, written))
        logits: Tensor = decoder.layer_norm(written) @ decoder.embed_tokens.weight.T
        return logits, looked

    def _convolved(self, mel: Tensor) -> Tensor:
        encoder = self.whisper.model.encoder
        once = functional.gelu(encoder.conv1(mel))
        return functional.gelu(encoder.conv2(once)).transpose(1, 2)

    def _drop(self, values: Tensor) -> Tensor:
        if not self._dropout:
            return values
        return functional.dropout(values, self._dropout, self.training)

    def _attend(self, attention: Any, asking: Tensor, asked: Tensor, bias: Tensor | None) -> Tensor:
        """Bias None: each looks at those before it."""

        query, known = self._parted(attention.q_proj(asking)), self._parted(attention.k_proj(asked))
        value = self._parted(attention.v_proj(asked))
        mask = None if bias is None else bias.expand(1, 1, asking.shape[1], -1)
        # In 16 bits this function's way back is slow.
        with torch.autocast("cpu", enabled=False):
            mixed = functional.scaled_dot_product_attention(
                query.float(), known.float(), value.float(), mask, is_causal=bias is None
            )
        out: Tensor = attention.out_proj(mixed.transpose(1, 2).flatten(2))
        return out

    def _look(
        self, attention: Any, asking: Tensor, asked: Tensor, bias: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The same, with how much each head looks where."""
        query, known = self._parted(attention.q_proj(asking)), self._parted(attention.k_proj(asked))
        value = self._parted(attention.v_proj(asked))
        scores = (query @ known.transpose(2, 3)).float() / math.sqrt(query.shape[-1]) + bias
        looked = scores.softmax(3)
        mixed = looked.to(value.dtype) @ value
        out: Tensor = attention.out_proj(mixed.transpose(1, 2).flatten(2))
        return out, looked

    def _parted(self, values: Tensor) -> Tensor:
        return values.view(*values.shape[:2], self._heads, -1).transpose(1, 2)


def _within(spans: Tensor, count: int) -> Tensor:
    """Which places belong to the word of each token (batch, token, place)."""
    places = torch.arange(count)
    return (places >= spans[:, :, :1]) & (places < spans[:, :, 1:])


def _missed(looked: Tensor, within: Tensor) -> Tensor:
    """How far the attention (batch, head, token, place) is from each word's place."""
    share = (looked * within[:, None]).sum(3)
    words = within.any(2)[:, None].expand_as(share)
    return -torch.log(share[words] + 1e-3).sum() / words.sum().clamp(min=1)


def _fed(layer: Any, values: Tensor) -> Tensor:
    out: Tensor = layer.fc2(functional.gelu(layer.fc1(layer.final_layer_norm(values))))
    return out
