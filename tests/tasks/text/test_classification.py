from pathlib import Path

import pytest

from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.tasks.text.classification import TEXT_CLASSIFICATION, classify, sentiment
from tests.tasks.calls import call_of, quiet, text_of


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("I love this phone, it is wonderful!", "positive"),
        ("The worst hotel I have ever been to.", "negative"),
        ("The book has three hundred pages.", "neutral"),
    ],
)
def test_tells_the_sentiment(tmp_path: Path, text: str, label: str):
    found = text_of(classify(call_of(TEXT_CLASSIFICATION.type, tmp_path, text=text), quiet))
    assert found.startswith(f"That sounds {label} (")
    assert found.endswith(" on a scale from −1 to 1).")


def test_a_long_review_is_judged_by_its_sentences():
    text = "The room was lovely. " + "It had two windows. " * 20 + "The staff were very kind."
    assert sentiment(text) > 0.4


def test_refuses_other_languages(tmp_path: Path):
    text = "Das ist ein wunderbares Buch und ich lese es immer wieder sehr gern."
    with pytest.raises(ExpertError, match="German"):
        classify(call_of(TEXT_CLASSIFICATION.type, tmp_path, text=text), quiet)


def test_needs_a_text(tmp_path: Path):
    with pytest.raises(InputError):
        classify(call_of(TEXT_CLASSIFICATION.type, tmp_path, text=" "), quiet)
