"""Which tasks experts do behind an API, and how they are asked. Tables only: nothing heavy here.

Depth, zero-shot detection, mask generation, the classification of films and the controls are left
out: no inference provider that huggingface_hub knows offers them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jarvis_desktop.core.call import Call
from jarvis_desktop.core.expert import Expert


@dataclass(frozen=True, slots=True)
class Way:
    """How one task is asked for."""

    service: str
    """What the providers call the task."""
    run: str
    """The function that asks and unpacks the answer: "module:function"."""
    chat: str = ""
    """The same for experts that a provider offers as something to chat with; "" where none."""


ANY = "auto"
"""Any provider but those that are tried by name."""

CHAT = "conversational"
"""What the providers call a chat."""

HERE = "jarvis_desktop.backends"

API_TASKS: Mapping[str, Way] = {
    "text-generation": Way(CHAT, f"{HERE}.api_words:write", f"{HERE}.api_words:write"),
    "summarization": Way("summarization", f"{HERE}.api_words:summarise"),
    "translation": Way("translation", f"{HERE}.api_words:translate"),
    "question-answering": Way("question-answering", f"{HERE}.api_words:find_answer"),
    "table-question-answering": Way("table-question-answering", f"{HERE}.api_tables:ask"),
    "tabular-classification": Way("tabular-classification", f"{HERE}.api_tables:classify"),
    "token-classification": Way("token-classification", f"{HERE}.api_words:label"),
    "text-classification": Way("text-classification", f"{HERE}.api_words:judge"),
    "zero-shot-classification": Way("zero-shot-classification", f"{HERE}.api_words:sort"),
    "fill-mask": Way("fill-mask", f"{HERE}.api_words:fill"),
    "sentence-similarity": Way("sentence-similarity", f"{HERE}.api_words:compare"),
    "feature-extraction": Way("feature-extraction", f"{HERE}.api_tables:embed"),
    "image-classification": Way("image-classification", f"{HERE}.api_sight:classify"),
    "zero-shot-image-classification": Way(
        "zero-shot-image-classification", f"{HERE}.api_sight:sort"
    ),
    "object-detection": Way("object-detection", f"{HERE}.api_sight:detect"),
    "image-segmentation": Way("image-segmentation", f"{HERE}.api_sight:segment"),
    "image-to-text": Way(
        "image-to-text", f"{HERE}.api_sight:describe", f"{HERE}.api_sight:chat_about"
    ),
    "visual-question-answering": Way(
        "visual-question-answering", f"{HERE}.api_sight:answer", f"{HERE}.api_sight:chat_about"
    ),
    "document-question-answering": Way(
        "document-question-answering",
        f"{HERE}.api_sight:read_document",
        f"{HERE}.api_sight:chat_about",
    ),
    "image-to-image": Way("image-to-image", f"{HERE}.api_drawing:redraw"),
    "image-editing": Way("image-to-image", f"{HERE}.api_drawing:redraw"),
    "text-to-image": Way("text-to-image", f"{HERE}.api_drawing:draw"),
    "text-to-video": Way("text-to-video", f"{HERE}.api_drawing:film"),
    "image-to-video": Way("image-to-video", f"{HERE}.api_drawing:animate"),
    "automatic-speech-recognition": Way(
        "automatic-speech-recognition", f"{HERE}.api_sound:transcribe"
    ),
    "audio-classification": Way("audio-classification", f"{HERE}.api_sound:classify"),
    "audio-to-audio": Way("audio-to-audio", f"{HERE}.api_sound:change"),
    "text-to-speech": Way("text-to-speech", f"{HERE}.api_sound:speak"),
    "text-to-audio": Way("text-to-audio", f"{HERE}.api_sound:compose"),
}

SLOW: Mapping[str, float] = {
    **dict.fromkeys(("text-to-video", "image-to-video"), 600.0),
    **dict.fromkeys(("text-to-image", "image-to-image", "image-editing", "text-to-audio"), 240.0),
}
"""Seconds that a call of the task may take, where that is more than usual."""

LARGE: Mapping[str, int] = {
    **dict.fromkeys(("text-to-video", "image-to-video"), 256_000_000),
    **dict.fromkeys(("text-to-image", "image-to-image", "image-editing"), 64_000_000),
    **dict.fromkeys(("text-to-speech", "text-to-audio", "audio-to-audio"), 128_000_000),
    "image-segmentation": 64_000_000,
}
"""Bytes that one answer of the task may have, where that is more than usual."""


@dataclass(frozen=True, slots=True)
class Job:
    """One call for the worker."""

    expert: Expert
    provider: str
    """Its name, or "auto": then any but the `besides`."""
    call: Call
    way: Way
    seconds: float
    key: str = field(repr=False)
    besides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Account:
    """Whose key it is, and whether it may make calls; None where the Hub does not say."""

    name: str
    may_call: bool | None
