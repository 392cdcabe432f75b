"""Ways of asking a service for the tasks of the contract that every backend fulfils."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.backends.api_answers import Question
from jarvis_desktop.backends.api_tasks import Way
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import InputError

WAYS = {name: Way("translation", f"tests.backends.api.ways:{name}") for name in ("shout", "refuse")}
REPO = "org/shouter"
SERVED = {REPO: {"hf-inference": "translation"}}


def shout(question: Question) -> Iterable[Artifact]:
    answer = question.client.translation(question.text("text"))
    return [text_artifact(question.words(answer.translation_text))]


def refuse(question: Question) -> Iterable[Artifact]:
    raise InputError("x.png is not a picture.", hint="Give another.")
