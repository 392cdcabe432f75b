"""Experts that answer questions about pages: Donut sees them, LayoutLM reads words and places.

Used in the worker process only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.local.pipelines.vision import (
    Talk,
    VisionQuestion,
    VisionRequest,
    given_to,
    image_processor,
)
from jarvis_desktop.backends.local.worker import Loading
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report

if TYPE_CHECKING:
    from jarvis_desktop.tasks.images.ocr import Line

LONGEST = 128
"""Tokens of an answer."""

QUESTION = "<s_docvqa><s_question>{}</s_question><s_answer>"
"""The form in which Donut was taught questions (Kim et al. 2022)."""

WHOLE = 1000
"""LayoutLM counts places from 0 to this, across and down the page."""

Words = list[tuple[str, list[int]]]
"""Words with their left, top, right and bottom in parts of WHOLE."""


def donut(loading: Loading) -> Talk:
    """Donut, tuned for questions: answers from the picture of the page, with no OCR before it."""
    import torch

    processor, tokenizer = image_processor(loading), loading.part("AutoTokenizer")
    if "<s_docvqa>" not in tokenizer.get_vocab():
        raise ExpertError(
            tr("{id} was not made for questions about documents.", id=loading.expert.id)
        )
    network = loading.network("AutoModelForImageTextToText")

    def talk(asked: VisionQuestion, report: Report) -> str:
        if asked.wish is not VisionRequest.ANSWER:
            raise ExpertError(
                tr("{id} only answers questions about documents.", id=loading.expert.id)
            )
        if not asked.pictures:
            raise ExpertError(
                tr(
                    "{id} looks at pages, and {name} has no pictures of them.",
                    id=loading.expert.id,
                    name=asked.name,
                )
            )
        # What would end the question's own marks is taken out of it.
        prompt = QUESTION.format(re.sub(r"</?s_\w+>", " ", asked.question))
        start = tokenizer(prompt, add_special_tokens=False, return_tensors="pt")["input_ids"]
        for page in asked.pictures:
            pixels = given_to(processor(images=page, return_tensors="pt"), network)
            with torch.inference_mode():
                output = network.generate(
                    pixels["pixel_values"],
                    decoder_input_ids=start.to(network.device),
                    max_new_tokens=LONGEST,
                    do_sample=False,
                )
            said = tokenizer.decode(output[0][start.shape[1] :], skip_special_tokens=True)
            if answer := re.sub(r"</?s_\w+>", " ", said).strip():
                return answer
        return ""

    return talk


def layout_reader(loading: Loading) -> Talk:
    """LayoutLM: marks the answer among the words of a page; RapidOCR gives words and places."""
    import transformers

    kind: Any = transformers.DocumentQuestionAnsweringPipeline
    pipeline = kind(
        model=loading.network("AutoModelForDocumentQuestionAnswering"),
        tokenizer=loading.part("AutoTokenizer"),
    )

    def talk(asked: VisionQuestion, report: Report) -> str:
        if asked.wish is not VisionRequest.ANSWER:
            raise ExpertError(
                tr("{id} only answers questions about documents.", id=loading.expert.id)
            )
        best, sure = "", -1.0
        for number, words in enumerate(_pages(asked), 1):
            report(None, f"page {number}")
            if not words:
                continue
            found = pipeline(image=None, question=asked.question, word_boxes=words)
            if found and found[0]["score"] > sure and found[0]["answer"]:
                best, sure = found[0]["answer"], found[0]["score"]
        return best

    return talk


def _pages(asked: VisionQuestion) -> list[Words]:
    from jarvis_desktop.tasks.images.io import to_array
    from jarvis_desktop.tasks.images.ocr import blocks_of, find_lines, rows_of

    if asked.text:
        return [_written(asked.text)]
    pages = []
    for picture in asked.pictures:
        blocks = blocks_of(find_lines(to_array(picture)))
        lines = [line for block in blocks for row in rows_of(block) for line in row]
        pages.append(_words(lines, picture.width, picture.height))
    return pages


def _written(text: str) -> Words:
    """The words of a text as if its lines stood below one another on one page."""
    from jarvis_desktop.tasks.images.ocr import Line

    rows = [row for row in text.splitlines() if row.strip()]
    width = max((len(row) for row in rows), default=1)
    lines = [Line(row.strip(), 1.0, 0.0, at, len(row), at + 0.8) for at, row in enumerate(rows)]
    return _words(lines, width, len(rows))


def _words(lines: Sequence[Line], width: float, height: float) -> Words:
    """The words of the lines; a word's place in its line is told by the letters before it."""
    words: Words = []
    for line in lines:
        letter = line.width / max(1, len(line.text))
        for match in re.finditer(r"\S+", line.text):
            left, right = line.left + match.start() * letter, line.left + match.end() * letter
            edges = (left / width, line.top / height, right / width, line.bottom / height)
            words.append((match[0], [min(max(round(at * WHOLE), 0), WHOLE) for at in edges]))
    return words
