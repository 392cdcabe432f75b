"""Image captioning, OCR, and visual and document question answering.

One download often does all of them, so one loader serves three tasks. Each architecture refuses
what it was not trained for, and the next candidate is tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

from PIL.Image import Image

from jarvis_desktop.backends.local.pipelines.vision import (
    AnswerFunction,
    VisionQuestion,
    VisionRequest,
    image_processor,
    labels_of,
    move_to,
    processor_of,
    requires_libraries,
    vision_question,
)
from jarvis_desktop.backends.local.worker import ExpertLoader, Run
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import Fault
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Call, Report, report_part

if TYPE_CHECKING:
    from jarvis_desktop.tasks.images.ocr import Line

READ, DESCRIBE, ANSWER = VisionRequest.READ, VisionRequest.DESCRIBE, VisionRequest.ANSWER
MAX_ANSWER_TOKENS = 64  # tokens of a caption, a short answer or a line
MAX_PAGE_TOKENS = 1024  # tokens of all the text in a picture
MAX_DONUT_TOKENS = 128
MAX_CHAT_TOKENS = {READ: 1024, DESCRIBE: 128, ANSWER: 256}
LINE_BATCH = 8  # lines of text read at once
ABILITIES = {
    READ: "read text",
    DESCRIBE: "describe pictures",
    ANSWER: "answer questions about pictures",
}
DEFAULT_QUESTION = "what is in the picture?"
CHAT_PROMPTS = {
    READ: "Write down all the text in this picture, word for word, and nothing else.",
    DESCRIBE: "Describe this picture in one or two sentences.",
}
BRIEF = "Answer in as few words as possible, with what stands in the document."
DONUT_PROMPT = "<s_docvqa><s_question>{}</s_question><s_answer>"
"""The prompt format that Donut was trained with (Kim et al. 2022)."""
LAYOUT_SIZE = 1000  # LayoutLM measures positions from 0 to this, across and down the page

LayoutWords = list[tuple[str, list[int]]]
"""Words with their left, top, right and bottom in units of LAYOUT_SIZE."""


@requires_libraries
def load_captioner(loading: ExpertLoader) -> Run:
    """Load an expert that returns text for a picture, by its architecture."""
    config = loading.part("AutoConfig")
    kind = str(config.model_type)
    if kind == "vision-encoder-decoder":
        kind = {"donut-swin": "donut"}.get(config.encoder.model_type, "")
        kind = kind or ("trocr" if config.decoder.model_type == "trocr" else "captioner")
    answer = _ARCHITECTURES.get(kind, _vision_llm)(loading)

    def run(call: Call, report: Report) -> list[Artifact]:
        asked = vision_question(call, report)
        report(None, tr("Looking at {name}", name=asked.name))
        text = answer(asked, report).strip()
        if not text:
            raise loading.error(mark("{id} gave no answer."), fault=Fault.ANSWER)
        return [text_artifact(text)]

    return run


def _generator(
    loading: ExpertLoader,
    prompts: Mapping[VisionRequest, str],
    *,
    kind: str = "AutoModelForImageTextToText",
    pixels_only: bool = False,
    **settings: Any,
) -> AnswerFunction:
    """A network that writes text for a picture and a prompt, for the requests in `prompts`."""
    processor = processor_of(loading)
    network = loading.network(kind)

    def answer(asked: VisionQuestion, report: Report) -> str:
        picture = _first_picture(loading, asked, tuple(prompts))
        prompt = prompts[asked.wish].format(question=asked.question or DEFAULT_QUESTION)
        text = {"text": prompt} if prompt else {}
        inputs = move_to(processor(images=picture, return_tensors="pt", **text), network)
        if pixels_only:
            inputs = {"pixel_values": inputs["pixel_values"]}
        given = {"max_new_tokens": MAX_ANSWER_TOKENS, "do_sample": False, **settings}
        output = network.generate(**inputs, **given)
        said = str(processor.decode(output[0], skip_special_tokens=True)).strip()
        return said.removeprefix(prompt)

    return answer


def _blip(loading: ExpertLoader) -> AnswerFunction:
    """BLIP: captions, or short answers if it was fine-tuned for questions."""
    if "QuestionAnswering" not in " ".join(loading.part("AutoConfig").architectures or ()):
        return _generator(loading, {DESCRIBE: ""})
    prompts = {ANSWER: "{question}", DESCRIBE: "{question}"}
    return _generator(loading, prompts, kind="AutoModelForVisualQuestionAnswering")


def _florence(loading: ExpertLoader) -> AnswerFunction:
    """Florence-2, with its own task prompts."""
    config = loading.part("AutoConfig")
    longest = min(MAX_PAGE_TOKENS, int(config.text_config.max_position_embeddings) - 1)
    prompts = {READ: "<OCR>", DESCRIBE: "<DETAILED_CAPTION>"}
    return _generator(loading, prompts, max_new_tokens=longest, num_beams=1)


def _vilt(loading: ExpertLoader) -> AnswerFunction:
    """ViLT: chooses one of about 3,000 short answers; English only."""
    processor = processor_of(loading)
    network = loading.network("AutoModelForVisualQuestionAnswering")
    labels = labels_of(network)
    longest = int(network.config.max_position_embeddings)

    def answer(asked: VisionQuestion, report: Report) -> str:
        # "What is this?" asks for a description, but a word answers it too.
        requests = (ANSWER, DESCRIBE) if asked.question else (ANSWER,)
        inputs = processor(
            images=_first_picture(loading, asked, requests),
            text=asked.question,
            truncation=True,
            max_length=longest,
            return_tensors="pt",
        )
        return labels[int(network(**move_to(inputs, network)).logits[0].argmax())]

    return answer


def _captioner(loading: ExpertLoader) -> AnswerFunction:
    """An image encoder with a text decoder, such as ViT-GPT2."""
    write = _decoder(loading)
    return lambda asked, report: write([_first_picture(loading, asked, (DESCRIBE,))])[0]


def _trocr(loading: ExpertLoader) -> AnswerFunction:
    """TrOCR: reads single lines of print or handwriting, which RapidOCR locates."""
    write = _decoder(loading)

    def answer(asked: VisionQuestion, report: Report) -> str:
        from jarvis_desktop.tasks.images.io import to_array
        from jarvis_desktop.tasks.images.ocr import find_places, rows_of

        _first_picture(loading, asked, (READ,))
        pages = []
        for picture in asked.pictures:
            rows = rows_of(find_places(to_array(picture)))
            boxes = [
                (int(at.left), int(at.top), ceil(at.right), ceil(at.bottom))
                for row in rows
                for at in row
            ]
            # Without any lines found, a picture of a few large words is one line.
            strips = [picture.crop(box) for box in boxes] or [picture]
            texts: list[str] = []
            for at in range(0, len(strips), LINE_BATCH):
                report_part(report, at, len(strips))
                texts += write(strips[at : at + LINE_BATCH])
            parts = iter(texts)
            lines = [" ".join(next(parts) for _ in row) for row in rows] or texts
            pages.append("\n".join(lines))
        return "\n\n".join(pages)

    return answer


def _decoder(loading: ExpertLoader) -> Callable[[list[Image]], list[str]]:
    """A function that writes a text for each picture."""
    processor, tokenizer = image_processor(loading), loading.part("AutoTokenizer")
    network = loading.network("AutoModelForImageTextToText")

    def write(pictures: list[Image]) -> list[str]:
        pixels = move_to(processor(images=pictures, return_tensors="pt"), network)["pixel_values"]
        output = network.generate(pixels, max_new_tokens=MAX_ANSWER_TOKENS, do_sample=False)
        return [text.strip() for text in tokenizer.batch_decode(output, skip_special_tokens=True)]

    return write


def _first_picture(
    loading: ExpertLoader, asked: VisionQuestion, requests: Sequence[VisionRequest]
) -> Image:
    """Return the first picture. Raise ExpertError if the expert does none of the `requests`."""
    if asked.wish not in requests:
        raise loading.error(
            mark("{id} can {does}, but not {trades}."),
            does=" and ".join(ABILITIES[request] for request in requests),
            trades=ABILITIES[asked.wish],
        )
    if not asked.pictures:
        raise loading.error(
            mark("{id} looks at pictures, and {name} has no pictures of its pages."),
            name=asked.name,
        )
    return asked.pictures[0]


def _vision_llm(loading: ExpertLoader) -> AnswerFunction:
    """A vision LLM with a chat template, such as SmolVLM."""
    processor = processor_of(loading)
    network = loading.network("AutoModelForImageTextToText")
    if not (processor.chat_template or getattr(processor.tokenizer, "chat_template", None)):
        raise loading.error(mark("{id} has no chat template: it cannot be asked anything."))

    def answer(asked: VisionQuestion, report: Report) -> str:
        content: list[dict[str, str]] = [{"type": "image"} for _ in asked.pictures]
        prompt = processor.apply_chat_template(
            [
                {
                    "role": "user",
                    "content": [*content, {"type": "text", "text": _chat_prompt(asked)}],
                }
            ],
            add_generation_prompt=True,
        )
        pictures = {"images": list(asked.pictures)} if asked.pictures else {}
        inputs = processor(text=prompt, return_tensors="pt", **pictures)
        given = inputs["input_ids"].shape[1]
        text_config = getattr(network.config, "text_config", network.config)
        room = int(getattr(text_config, "max_position_embeddings", 0) or 4096) - given
        if room < 32:
            raise loading.error(mark("{name} is too long for {id}."), name=asked.name)
        output = network.generate(
            **move_to(inputs, network),
            max_new_tokens=min(MAX_CHAT_TOKENS[asked.wish], room),
            do_sample=False,
            num_beams=1,
        )
        return str(processor.decode(output[0][given:], skip_special_tokens=True))

    return answer


def _chat_prompt(asked: VisionQuestion) -> str:
    """The user's question as it is; a document without pictures is quoted before it."""
    if asked.text:
        return f"Document:\n{asked.text}\n\nQuestion about the document: {asked.question}\n{BRIEF}"
    return asked.question or CHAT_PROMPTS[asked.wish]


def _donut(loading: ExpertLoader) -> AnswerFunction:
    """Donut, fine-tuned for questions: answers from the picture of a page, without OCR."""
    processor, tokenizer = image_processor(loading), loading.part("AutoTokenizer")
    if "<s_docvqa>" not in tokenizer.get_vocab():
        raise loading.error(mark("{id} was not made for questions about documents."))
    network = loading.network("AutoModelForImageTextToText")

    def answer(asked: VisionQuestion, report: Report) -> str:
        _check_is_question(loading, asked)
        if not asked.pictures:
            raise loading.error(
                mark("{id} looks at pages, and {name} has no pictures of them."), name=asked.name
            )
        # Tags in the question would end Donut's own.
        prompt = DONUT_PROMPT.format(re.sub(r"</?s_\w+>", " ", asked.question))
        start = tokenizer(prompt, add_special_tokens=False, return_tensors="pt")["input_ids"]
        for page in asked.pictures:
            pixels = move_to(processor(images=page, return_tensors="pt"), network)
            output = network.generate(
                pixels["pixel_values"],
                decoder_input_ids=start.to(network.device),
                max_new_tokens=MAX_DONUT_TOKENS,
                do_sample=False,
            )
            said = tokenizer.decode(output[0][start.shape[1] :], skip_special_tokens=True)
            if text := re.sub(r"</?s_\w+>", " ", said).strip():
                return text
        return ""

    return answer


def _layoutlm(loading: ExpertLoader) -> AnswerFunction:
    """LayoutLM: marks the answer among the words of a page, which RapidOCR reads."""
    import transformers

    kind: Any = transformers.DocumentQuestionAnsweringPipeline
    pipeline = kind(
        model=loading.network("AutoModelForDocumentQuestionAnswering"),
        tokenizer=loading.part("AutoTokenizer"),
    )

    def answer(asked: VisionQuestion, report: Report) -> str:
        _check_is_question(loading, asked)
        best, score = "", -1.0
        for number, words in enumerate(_pages(asked), 1):
            report(None, tr("Page {number}", number=number))
            if not words:
                continue
            found = pipeline(image=None, question=asked.question, word_boxes=words)
            if found and found[0]["score"] > score and found[0]["answer"]:
                best, score = found[0]["answer"], found[0]["score"]
        return best

    return answer


def _check_is_question(loading: ExpertLoader, asked: VisionQuestion) -> None:
    if asked.wish is not ANSWER:
        raise loading.error(mark("{id} only answers questions about documents."))


def _pages(asked: VisionQuestion) -> list[LayoutWords]:
    from jarvis_desktop.tasks.images.io import to_array
    from jarvis_desktop.tasks.images.ocr import Line, blocks_of, find_lines, rows_of

    if asked.text:  # laid out as if its lines were below one another on one page
        rows = [row for row in asked.text.splitlines() if row.strip()]
        width = max((len(row) for row in rows), default=1)
        lines = [Line(row.strip(), 1.0, 0.0, at, len(row), at + 0.8) for at, row in enumerate(rows)]
        return [_layout_words(lines, width, len(rows))]
    pages = []
    for picture in asked.pictures:
        blocks = blocks_of(find_lines(to_array(picture)))
        lines = [line for block in blocks for row in rows_of(block) for line in row]
        pages.append(_layout_words(lines, picture.width, picture.height))
    return pages


def _layout_words(lines: Sequence[Line], width: float, height: float) -> LayoutWords:
    """The words of the lines; the position of a word is estimated from the letters before it."""
    words: LayoutWords = []
    for line in lines:
        letter = line.width / max(1, len(line.text))
        for match in re.finditer(r"\S+", line.text):
            left, right = line.left + match.start() * letter, line.left + match.end() * letter
            edges = (left / width, line.top / height, right / width, line.bottom / height)
            scaled = [min(max(round(at * LAYOUT_SIZE), 0), LAYOUT_SIZE) for at in edges]
            words.append((match[0], scaled))
    return words


_ARCHITECTURES: Mapping[str, Callable[[ExpertLoader], AnswerFunction]] = {
    "blip": _blip,
    "blip-2": partial(
        _generator, prompts={ANSWER: "Question: {question} Answer:", DESCRIBE: "a photo of"}
    ),
    "git": partial(_generator, prompts={DESCRIBE: ""}, pixels_only=True),
    "vilt": _vilt,
    "florence2": _florence,
    "captioner": _captioner,
    "trocr": _trocr,
    "donut": _donut,
    "layoutlm": _layoutlm,
}
"""By model type; all others are vision LLMs that are asked in a chat."""
