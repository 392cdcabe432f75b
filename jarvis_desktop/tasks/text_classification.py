"""Says whether a text is positive or negative, by the VADER lexicon. Runs in a child process."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.language_identification import identify
from jarvis_desktop.tasks.sentences import sentences

TYPE = TaskType(
    name="text-classification",
    summary="Says whether a text is positive, negative or neutral.",
    ports=(Port("text", (Kind.TEXT,)),),
    gives=(Kind.TEXT,),
    cues=(
        "sentiment", "positive or negative", "negative or positive", "positive", "negative",
        "mood", "tone", "emotion*", "happy or sad", "good or bad", "opinion", "attitude",
        "how does ... feel", "is ... angry", "is ... happy", "is ... sad",
        "is ... friendly", "is ... rude", "is ... satisfied",
        "is this review", "classify the text", "text classification",
    ),
)  # fmt: skip

MOST_SENTENCES = 2000
NEUTRAL = 0.05
"""The threshold VADER's authors give."""


def classify(call: Call, report: Report) -> Iterable[Artifact]:
    """The judgement as a sentence. Raises ExpertError on languages other than English."""
    text = call.text("text")
    if not text.strip():
        raise InputError(tr("There is no text to judge."))
    if len(text) >= 30:
        found = identify(text)
        if found.code != "en" and found.confidence > 0.95:
            raise ExpertError(
                tr(
                    "The built-in judge of sentiment reads English only; this is {name}.",
                    name=found.name,
                ),
                hint=tr("An expert for text-classification that knows the language would do."),
            )
    score = sentiment(text)
    label = "neutral" if abs(score) < NEUTRAL else "positive" if score > 0 else "negative"
    shown = f"{score:.2f}".replace("-", "−")
    return [text_artifact(f"That sounds {label} ({shown} on a scale from −1 to 1).")]


def sentiment(text: str) -> float:
    """VADER's compound score, -1 to 1; of a longer text the mean over its opinionated sentences.

    Hutto and Gilbert, "VADER: a parsimonious rule-based model for sentiment analysis of social
    media text", ICWSM 2014.
    """
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyser = SentimentIntensityAnalyzer()
    parts = sentences(text)
    if len(parts) <= 3:
        return float(analyser.polarity_scores(text)["compound"])
    step = max(1, len(parts) // MOST_SENTENCES)
    scores = [float(analyser.polarity_scores(part)["compound"]) for part in parts[::step]]
    opinions = [score for score in scores if abs(score) >= NEUTRAL]
    return sum(opinions) / len(opinions) if opinions else 0.0


DEFINITION = Definition(
    TYPE, method=classify, note="VADER's lexicon of English words; blind to irony"
)
