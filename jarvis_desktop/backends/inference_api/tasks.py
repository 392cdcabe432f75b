"""How tasks are requested from inference providers.

Depth, zero-shot detection, mask generation, video classification and control images are missing: no
provider that huggingface_hub knows offers them. Answers are untrusted, and checked part by part.
"""

from __future__ import annotations

import io
import math
import wave
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.draft import Draft
from jarvis_desktop.backends.inference_api.errors import ApiTarget, cut_off, not_served, unusable
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.context import current_draft
from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.expert import Expert, Spent
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.audio.media import read_audio
from jarvis_desktop.tasks.images.io import on_white, read_image
from jarvis_desktop.text.thinking import ThinkingFilter

if TYPE_CHECKING:
    from huggingface_hub.inference._common import MimeBytes
    from PIL.Image import Image


@dataclass(frozen=True, slots=True)
class ApiMethod:
    """How a task is requested."""

    service: str  # the providers' name for the task
    run: str
    """The function that asks and reads the answer: "module:function"."""
    chat: str = ""
    """The same for experts that a provider offers as a chat; "" if there is none."""


ANY = "auto"  # any provider except those that are tried by name
CHAT = "conversational"  # the providers' name for a chat
_FUNCTIONS = {
    "text-generation": "text:write",
    "summarization": "text:summarise",
    "translation": "text:translate",
    "question-answering": "text:find_answer",
    "table-question-answering": "text:ask",
    "tabular-classification": "text:classify",
    "token-classification": "text:label",
    "text-classification": "text:judge",
    "zero-shot-classification": "text:sort",
    "fill-mask": "text:fill",
    "sentence-similarity": "text:compare",
    "feature-extraction": "text:embed",
    "image-classification": "media:classify_picture",
    "zero-shot-image-classification": "media:sort",
    "object-detection": "media:detect",
    "image-segmentation": "media:segment",
    "image-to-text": "media:describe",
    "visual-question-answering": "media:answer",
    "document-question-answering": "media:read_document",
    "image-to-image": "media:redraw",
    "image-editing": "media:redraw",
    "text-to-image": "media:draw",
    "text-to-video": "media:make_video",
    "image-to-video": "media:animate",
    "automatic-speech-recognition": "media:transcribe",
    "audio-classification": "media:classify_sound",
    "audio-to-audio": "media:change",
    "text-to-speech": "media:speak",
    "text-to-audio": "media:compose",
}
_CHATS = {
    "text-generation": "text:write",
    "image-to-text": "media:chat_about",
    "visual-question-answering": "media:chat_about",
    "document-question-answering": "media:chat_about",
}
_SERVICES = {"text-generation": CHAT, "image-editing": "image-to-image"}
API_TASKS: Mapping[str, ApiMethod] = {
    task: ApiMethod(
        _SERVICES.get(task, task),
        f"jarvis_desktop.backends.inference_api.{function}",
        f"jarvis_desktop.backends.inference_api.{_CHATS[task]}" if task in _CHATS else "",
    )
    for task, function in _FUNCTIONS.items()
}

TIME_LIMITS: Mapping[str, float] = {
    **dict.fromkeys(("text-to-video", "image-to-video"), 600.0),
    **dict.fromkeys(("text-to-image", "image-to-image", "image-editing", "text-to-audio"), 240.0),
}
"""Seconds for calls of slow tasks."""
MAX_ANSWER_BYTES: Mapping[str, int] = {
    **dict.fromkeys(("text-to-video", "image-to-video"), 256_000_000),
    **dict.fromkeys(("text-to-image", "image-to-image", "image-editing"), 64_000_000),
    **dict.fromkeys(("text-to-speech", "text-to-audio", "audio-to-audio"), 128_000_000),
    "image-segmentation": 64_000_000,
}
"""Bytes of one answer, for tasks with large ones."""


@dataclass(frozen=True, slots=True)
class ApiJob:
    """One call for the worker."""

    expert: Expert
    provider: str
    """Its name, or "auto": any except the `besides`."""
    call: Call
    way: ApiMethod
    seconds: float
    key: str = field(repr=False)
    besides: tuple[str, ...] = ()
    endpoint: str = ""
    """The address to ask instead of a provider; the key is for it alone."""


@dataclass(frozen=True, slots=True)
class ApiAccount:
    """The owner of a key, and whether it may make calls; None if the Hub does not say."""

    name: str
    may_call: bool | None


MAX_TEXT_CHARS = 200_000  # of one request
MAX_ANSWER_CHARS = 1_000_000


MAX_TOKENS = 100_000_000
MAX_DOLLARS = 1000.0  # an answer that claims to cost more is wrong


@dataclass(frozen=True, slots=True)
class ApiQuestion:
    """One call on its way to a service."""

    client: Any  # the InferenceClient of huggingface_hub for this expert and provider
    call: Call
    report: Report
    expert: Expert
    provider: str
    asked: ApiTarget
    key: str = field(default="", repr=False)
    usage: list[Spent] = field(default_factory=list)  # the prices in its answers

    def error(self, message: str, *, hint: str = "", **values: object) -> ExpertError:
        """Return an error with a marked message, in which {id} is the expert."""
        return ExpertError(tr(message, id=self.expert.id, **values), hint=hint)

    def unusable(self, why: str = "") -> ExpertError:
        """The answer cannot be used; `why` ends the sentence."""
        return unusable(self.asked, why=why)

    def not_served(self) -> UnavailableError:
        """The provider does not offer this."""
        return not_served(self.asked)

    def text(self, port: str) -> str:
        """The text of a port. Raises InputError if it is empty, ExpertError if it is too long."""
        text = self.call.text(port).strip()
        if not text:
            raise InputError(tr("There is no text to send: the {port} is empty.", port=port))
        if len(text) > MAX_TEXT_CHARS:
            raise self.error(
                mark("The text is too long for {id}: {text:,} characters."),
                text=len(text),
                hint=tr("Give it in parts."),
            )
        return text

    def words(self, value: object) -> str:
        """A text of the answer. Raises ExpertError if it is empty or too long."""
        if not isinstance(value, str) or not value.strip():
            raise self.unusable(tr("it contains no text"))
        if len(value) > MAX_ANSWER_CHARS:
            raise self.unusable(tr("its text is too long"))
        return value.strip()

    def several(self, value: object) -> Sequence[Any]:
        """A list of the answer that is not empty. Raises ExpertError."""
        if not isinstance(value, list) or not value:
            raise self.unusable(tr("it is empty"))
        return value

    def share(self, value: object) -> float:
        """A score, 0 to 1. Raises ExpertError if it is not one."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.unusable(tr("it has no score"))
        if not math.isfinite(value) or not -0.001 <= value <= 1.001:
            raise self.unusable(tr("its score is out of range"))
        return min(max(float(value), 0.0), 1.0)

    def scores(self, elements: object) -> list[tuple[str, float]]:
        """The labels with their scores, the most likely first. Raises ExpertError."""
        found = [
            (self.words(each.label), self.share(each.score)) for each in self.several(elements)
        ]
        return sorted(found, key=lambda pair: -pair[1])

    def scores_of(self, labels: Sequence[str], elements: object) -> list[tuple[str, float]]:
        """The scores of the given labels. Raises ExpertError if one is missing."""
        scores = [pair for pair in self.scores(elements) if pair[0] in labels]
        if len(scores) < len(labels):
            raise self.unusable(tr("it does not name the labels that were given"))
        return scores


def chat(question: ApiQuestion, content: object, *, longest: int = 2048) -> str:
    """The expert's answer to one message, shown while it arrives, without its reasoning.

    `content` is in the format of OpenAI's API. Raises ExpertError, also if the answer breaks off.
    """
    chunks = question.client.chat_completion(
        [{"role": "user", "content": content}],
        max_tokens=longest,
        stream=True,
        stream_options={"include_usage": True},
    )
    draft, ended = Draft(current_draft.get(), ThinkingFilter()), ""
    for chunk in chunks:
        if chunk.usage:
            question.usage.append(price_of(chunk.usage))
        for choice in chunk.choices[:1]:
            draft.feed(choice.delta.content or "")
            ended = choice.finish_reason or ended
    said = question.words(draft.finished())
    if not ended:
        raise cut_off(question.asked)
    if ended == "length":
        said += "\n\n(The answer ends here: it reached its longest length.)"
    return said


def price_of(usage: object) -> Spent:
    """The price in an answer, as far as it makes sense. Hugging Face's router passes on what the
    provider returns: always tokens, and sometimes an estimated cost in dollars."""
    told = usage if isinstance(usage, Mapping) else {}
    tokens, dollars = told.get("total_tokens"), told.get("estimated_cost")
    counted = isinstance(tokens, int) and 0 <= tokens <= MAX_TOKENS
    priced = isinstance(dollars, int | float) and 0 <= dollars <= MAX_DOLLARS
    return Spent(tokens=int(tokens or 0) if counted else 0, dollars=dollars if priced else None)


def join_pieces(pieces: Iterable[str], most: int) -> list[str]:
    """Join the pieces with spaces into parts of at most `most` characters, if they allow it."""
    parts: list[str] = []
    for piece in pieces:
        if parts and len(parts[-1]) + len(piece) < most:
            parts[-1] += f" {piece}"
        else:
            parts.append(piece)
    return parts


MAX_SIDE = 1600  # pixels of a picture that is sent
MAX_PICTURE_BYTES = 4_000_000  # services refuse more than 5 to 10 MB
MAX_SOUND_SECONDS = 900.0
SPEECH_RATE = 16_000  # samples a second


def picture_of(question: ApiQuestion, port: str = "image") -> Image:
    """The picture of a port, on white."""
    call = question.call
    return on_white(read_image(call.file(port), name=call.title(port)))


def as_jpeg(picture: Image) -> tuple[MimeBytes, float]:
    """A picture as a JPEG to send, and the factor by which it was shrunk."""
    from PIL import Image as images

    smaller, shrunk = picture, max(1.0, max(picture.size) / MAX_SIDE)
    if shrunk > 1.0:
        width, height = (max(1, round(side / shrunk)) for side in picture.size)
        smaller = picture.resize((width, height), images.Resampling.LANCZOS)
    body = b""
    for quality in (92, 80, 60):
        file = io.BytesIO()
        smaller.save(file, "JPEG", quality=quality)
        body = file.getvalue()
        if len(body) <= MAX_PICTURE_BYTES:
            break
    return typed(body, "image/jpeg"), shrunk


def sound_of(
    question: ApiQuestion, *, rate: int = SPEECH_RATE, longest: float = MAX_SOUND_SECONDS
) -> MimeBytes:
    """The recording as a mono WAV to send. Raises ExpertError if it is too long."""
    import numpy as np

    call = question.call
    samples, rate = read_audio(call.file("audio"), rate=rate, mono=True, name=call.title("audio"))
    seconds = samples.shape[1] / rate
    if seconds > longest:
        raise question.error(
            mark("{call} is too long for {id}: {seconds:.0f} minutes."),
            call=call.title("audio"),
            seconds=seconds / 60,
            hint=tr("Cut it into parts, or use an expert of this computer."),
        )
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(rate)
        clipped = np.clip(np.nan_to_num(samples[0]), -1.0, 1.0) * 32767.0
        writer.writeframes(clipped.round().astype("<i2").tobytes())
    return typed(file.getvalue(), "audio/wav")


def page_of(question: ApiQuestion) -> Image:
    """The picture of a document. Raises ExpertError for other documents."""
    given = question.call.inputs["document"][0]
    if given.kind is not Kind.IMAGE:
        raise question.error(
            mark("{id} only reads pictures of documents, and {title} is not a picture."),
            title=given.title,
        )
    return picture_of(question, "document")


def typed(body: bytes, mime: str) -> MimeBytes:
    """Bytes with their type, without which services refuse them."""
    from huggingface_hub.inference._common import MimeBytes

    return MimeBytes(body, mime)
