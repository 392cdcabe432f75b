"""Ways of asking a service for the tasks of the contract that every backend fulfils."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.backends.inference_api.tasks import ApiMethod, ApiQuestion
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import InputError

WAYS = {
    name: ApiMethod("translation", f"tests.backends.inference_api.ways:{name}")
    for name in ("shout", "refuse")
}
REPO = "org/shouter"
SERVED = {REPO: {"hf-inference": "translation"}}


def shout(question: ApiQuestion) -> Iterable[Artifact]:
    answer = question.client.translation(question.text("text"))
    return [text_artifact(question.words(answer.translation_text))]


def refuse(question: ApiQuestion) -> Iterable[Artifact]:
    raise InputError("x.png is not a picture.", hint="Give another.")
