"""The tasks that classify a text: language, sentiment, and given labels. Run in child processes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.text.languages import NAMES, detector
from jarvis_desktop.text.sentences import sentences

MAX_CHARS = 20_000  # characters that are read; more make no difference
SURE = 0.8
GUESS = 0.4


@dataclass(frozen=True, slots=True)
class Language:
    """A language and the confidence of its identification, 0 to 1."""

    code: str
    confidence: float

    @property
    def name(self) -> str:
        """Its English name, or its code if the name is unknown."""
        return NAMES.get(self.code, self.code)


def describe_language(call: Call, report: Report) -> Iterable[Artifact]:
    """One line such as "French (1.00)". Raises InputError if there are no letters, ExpertError if
    the language is unclear."""
    text = call.text("text")
    if not any(sign.isalpha() for sign in text):
        raise InputError(tr("There are no words to identify the language of."))
    found = identify(text)
    if found.confidence < GUESS:
        raise ExpertError(tr("The text is too short or too mixed to identify its language."))
    doubt = "" if found.confidence >= SURE else ", a guess: the text is short or mixed"
    return [text_artifact(f"{found.name} ({found.confidence:.2f}{doubt})")]


def identify(text: str) -> Language:
    """The likeliest of 97 languages (Lui and Baldwin, "langid.py", ACL 2012)."""
    code, confidence = detector().classify(text[:MAX_CHARS])
    return Language(str(code), float(confidence))


LANGUAGE_IDENTIFICATION = define(
    name="language-identification", label="Identify language",
    summary="Says which language a text is in.",
    ports=(Port("text", (Kind.TEXT,)),),
    cues=(
        "what language", "which language", "detect the language", "language is", "language of",
        "identify the language", "language detection", "is this french", "is this german",
        "is this spanish", "is this italian", "in what language",
        *(f"{ask} the language$" for ask in ("tell me", "find out", "detect", "name", "say",
          "determine", "what is", "what's", "recognise", "recognize", "check")),
    ),
    method=describe_language, note="97 languages, by letter sequences (langid)",
)  # fmt: skip


MAX_SENTENCES = 2000
NEUTRAL = 0.05  # the threshold recommended by VADER's authors


def classify(call: Call, report: Report) -> Iterable[Artifact]:
    """The sentiment as a sentence. Raises ExpertError for languages other than English."""
    text = call.text("text")
    if not text.strip():
        raise InputError(tr("There is no text to analyse."))
    if len(text) >= 30:
        found = identify(text)
        if found.code != "en" and found.confidence > 0.95:
            raise ExpertError(
                tr(
                    "The built-in sentiment analysis understands English only; this is {name}.",
                    name=found.name,
                ),
                hint=tr("An expert for text-classification that knows the language can do it."),
            )
    score = sentiment(text)
    label = "neutral" if abs(score) < NEUTRAL else "positive" if score > 0 else "negative"
    shown = f"{score:.2f}".replace("-", "−")
    return [text_artifact(f"That sounds {label} ({shown} on a scale from −1 to 1).")]


def sentiment(text: str) -> float:
    """VADER's compound score, -1 to 1; for longer texts the mean over sentences with an opinion.
    Hutto and Gilbert, "VADER: a parsimonious rule-based model for sentiment analysis of social
    media text", ICWSM 2014."""
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyser = SentimentIntensityAnalyzer()
    parts = sentences(text)
    if len(parts) <= 3:
        return float(analyser.polarity_scores(text)["compound"])
    step = max(1, len(parts) // MAX_SENTENCES)
    scores = [float(analyser.polarity_scores(part)["compound"]) for part in parts[::step]]
    opinions = [score for score in scores if abs(score) >= NEUTRAL]
    return sum(opinions) / len(opinions) if opinions else 0.0


TEXT_CLASSIFICATION = define(
    name="text-classification", label="Tell the mood",
    summary="Says whether a text is positive, negative or neutral.",
    ports=(Port("text", (Kind.TEXT,)),),
    cues=(
        "sentiment", "positive or negative", "negative or positive", "positive", "negative",
        "mood", "tone", "emotion*", "happy or sad", "good or bad", "opinion", "attitude",
        "how does ... feel", "is ... angry", "is ... happy", "is ... sad",
        "is ... friendly", "is ... rude", "is ... satisfied",
        "is this review", "classify the text", "text classification",
    ),
    method=classify, note="VADER's lexicon of English words; blind to irony",
)  # fmt: skip


def labels_of(words: str) -> list[str]:
    """Split labels at commas, each once. Raises InputError if there are fewer than two."""
    labels = list(dict.fromkeys(each.strip() for each in words.split(",") if each.strip()))
    if len(labels) < 2:
        raise InputError(
            tr("Sorting needs at least two labels."), hint=tr("Say for example: sport or politics?")
        )
    return labels


ZERO_SHOT_CLASSIFICATION = define(
    name="zero-shot-classification", label="Sort under labels",
    summary="Sorts a text under one of the labels that are given.",
    ports=(Port("text", (Kind.TEXT,)),),
    options=(TaskOption("labels", "the labels, separated by commas", "", reads="clause"),),
    cues=(
        "which of these labels", "which category", "which of the following", "classify ... as",
        "classify it as", "sort ... into", "categor*", "label it as", "label this", "is it about",
        "one of these topics", "zero-shot", "zero shot", "which topic",
    ),
    note="needs an expert that understands text",
)  # fmt: skip
