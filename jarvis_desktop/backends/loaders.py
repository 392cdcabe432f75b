"""Which function loads the experts of a task. A table only: nothing heavy is imported for it."""

from __future__ import annotations

from collections.abc import Mapping

WORDS_AND_SOUND: Mapping[str, str] = {
    "text-generation": "text_experts:load_writer",
    "translation": "text_experts:load_translator",
    "summarization": "text_experts:load_summariser",
    "zero-shot-classification": "text_experts:load_sorter",
    "fill-mask": "text_experts:load_gap_filler",
    "audio-classification": "media_experts:load_listener",
}
SIGHT: Mapping[str, str] = {
    "depth-estimation": "media_experts:load_depth",
    "visual-question-answering": "media_experts:load_viewer",
}
DRAWING: Mapping[str, str] = {
    "text-to-image": "media_experts:load_painter",
}
LOADERS: Mapping[str, str] = {**WORDS_AND_SOUND, **SIGHT, **DRAWING}
"""Per task: which function of which module here takes a Loading and gives a Run."""

NEEDS: Mapping[str, str] = dict.fromkeys(DRAWING, "diffusers")
"""Tasks whose experts need a library that is not always installed."""
