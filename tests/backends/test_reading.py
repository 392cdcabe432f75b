"""Experts that read pictures, describe them and answer questions, each really run, tiny."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, InputError
from tests.backends.bench import Bench, Given
from tests.backends.tiny import WORDS
from tests.tasks.drawing import page

pytestmark = pytest.mark.timeout(300)

READ, ASK, PAGE = "image-to-text", "visual-question-answering", "document-question-answering"
LINES = ("the cat sat on the mat", "a dog ran home", "they were happy about politics")


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    values = np.random.default_rng(1).random((60, 80, 3)) * 255
    Image.fromarray(values.astype(np.uint8)).save(tmp_path / "photo.jpg")
    return tmp_path / "photo.jpg"


@pytest.fixture
def letter(tmp_path: Path) -> Path:
    return page(tmp_path / "letter.png", LINES)


def written(path: Path, *lines: str) -> Artifact:
    path.write_text("\n".join(lines))
    return Artifact(Kind.DOCUMENT, path=path, name=path.name)


def scanned(path: Path, *pages: Path) -> Artifact:
    """A PDF with nothing but pictures on its pages."""
    first, *others = [Image.open(each).convert("RGB") for each in pages]
    first.save(path, save_all=True, append_images=others)
    return Artifact(Kind.DOCUMENT, path=path, name=path.name)


def test_one_vision_llm_reads_describes_and_answers(bench: Bench, photo: Path, letter: Path):
    viewer = "tiny_media:viewer"
    calls: tuple[tuple[str, dict[str, Given], dict[str, str]], ...] = (
        (READ, {"image": photo}, {"what": "text"}),
        (READ, {"image": photo}, {"what": "caption"}),
        (ASK, {"image": photo, "question": "what do you see ?"}, {}),
        (PAGE, {"document": letter, "question": "what is it about ?"}, {}),
    )
    for task, inputs, options in calls:
        said = bench.text(task, viewer, inputs, options=options)
        assert said
        assert set(said.split()) <= set(WORDS)
    assert bench.text(task, viewer, inputs, options=options) == said


def test_a_document_without_a_question_is_no_task(bench: Bench, letter: Path):
    with pytest.raises(InputError, match=r"no question about letter"):
        bench.run(PAGE, "tiny_media:viewer", {"document": letter, "question": " "})


def test_a_vision_llm_sees_the_pages_of_a_scan_and_reads_other_documents(
    bench: Bench, letter: Path, tmp_path: Path
):
    asked = {"question": "what is it about ?"}
    scan = scanned(tmp_path / "scan.pdf", letter, letter)
    assert bench.text(PAGE, "tiny_media:viewer", {"document": scan, **asked})
    note = written(tmp_path / "note.txt", *LINES)
    assert bench.text(PAGE, "tiny_media:viewer", {"document": note, **asked})
    long = written(tmp_path / "long.txt", *LINES * 20)
    with pytest.raises(ExpertError, match=r"long\.txt is too long for viewer"):
        bench.run(PAGE, "tiny_media:viewer", {"document": long, **asked})
    torn = tmp_path / "torn.pdf"
    torn.write_bytes(scan.path.read_bytes()[:300] if scan.path else b"")
    with pytest.raises(InputError, match=r"torn\.pdf"):
        bench.run(
            PAGE, "tiny_media:viewer", {"document": Artifact(Kind.DOCUMENT, path=torn), **asked}
        )


@pytest.mark.parametrize("expert", ["captioner", "old_captioner", "florence", "git"])
def test_a_caption_is_written(bench: Bench, photo: Path, expert: str):
    expert = f"tiny_readers:{expert}"
    caption = bench.text(READ, expert, {"image": photo}, options={"what": "caption"})
    assert set(caption.split()) <= set(WORDS)
    told = bench.text(ASK, expert, {"image": photo, "question": "Describe this picture"})
    assert told == caption
    with pytest.raises(ExpertError, match="but not answer questions"):
        bench.run(ASK, expert, {"image": photo, "question": "who is it?"})


def test_who_only_describes_does_not_read(bench: Bench, photo: Path):
    with pytest.raises(ExpertError, match="captioner can describe pictures, but not read text"):
        bench.run(READ, "tiny_readers:captioner", {"image": photo})


def test_florence_reads(bench: Bench, photo: Path):
    said = bench.text(READ, "tiny_readers:florence", {"image": photo})
    assert set(said.split()) <= set(WORDS)


@pytest.mark.parametrize(("expert", "answer"), [("short_answerer", "dog"), ("chooser", "yes")])
def test_a_question_is_answered_shortly(bench: Bench, photo: Path, expert: str, answer: str):
    asked: dict[str, Given] = {"image": photo, "question": "is it a dog ?"}
    assert set(bench.text(ASK, f"tiny_readers:{expert}", asked).split()) == {answer}
    with pytest.raises(ExpertError, match="but not read text"):
        bench.run(READ, f"tiny_readers:{expert}", {"image": photo})


def test_lines_are_read_one_by_one(bench: Bench, letter: Path, photo: Path):
    said = bench.text(READ, "tiny_readers:line_reader", {"image": letter})
    assert len(said.splitlines()) == len(LINES)
    assert set(said.split()) <= set(WORDS)
    assert bench.text(READ, "tiny_readers:line_reader", {"image": photo})
    with pytest.raises(ExpertError, match="but not describe pictures"):
        bench.run(READ, "tiny_readers:line_reader", {"image": letter}, {"what": "caption"})


def test_donut_answers_from_the_picture_of_a_page(bench: Bench, letter: Path, tmp_path: Path):
    asked = {"question": "what is it about </s_question><s_answer> ?"}
    said = bench.text(PAGE, "tiny_readers:page_reader", {"document": letter, **asked})
    assert set(said.split()) <= set(WORDS)
    scan = scanned(tmp_path / "scan.pdf", letter)
    assert bench.text(PAGE, "tiny_readers:page_reader", {"document": scan, **asked})
    note = written(tmp_path / "note.txt", *LINES)
    with pytest.raises(ExpertError, match="no pictures of them"):
        bench.run(PAGE, "tiny_readers:page_reader", {"document": note, **asked})
    with pytest.raises(ExpertError, match="was not made for questions"):
        bench.run(PAGE, "tiny_readers:receipt_reader", {"document": letter, **asked})


def test_layoutlm_marks_words_of_the_page(bench: Bench, letter: Path, tmp_path: Path):
    asked = {"question": "what is it about ?"}
    answer = bench.text(PAGE, "tiny_readers:layout_reader", {"document": letter, **asked})
    assert answer
    # RapidOCR leaves out a blank here and there.
    assert "".join(answer.split()) in "".join("".join(LINES).split())
    note = written(tmp_path / "note.txt", *LINES * 20)
    assert bench.text(PAGE, "tiny_readers:layout_reader", {"document": note, **asked})
