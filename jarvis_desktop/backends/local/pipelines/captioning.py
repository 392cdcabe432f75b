"""Experts of one trade that give text for pictures: captions, short answers, lines of text.

Each refuses what it was not made for, so that the next candidate is tried. Used in the worker
process only.

Experts that talk about pictures: they read, describe and answer questions.

One download often does all three, so that one loader serves image-to-text, visual question
answering and document question answering. Used in the worker process only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import ceil
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.local.pipelines.documents import donut, layout_reader
from jarvis_desktop.backends.local.pipelines.vision import (
    Talk,
    VisionQuestion,
    VisionRequest,
    asked_of,
    explained,
    given_to,
    image_processor,
    labels_of,
    processor_of,
)
from jarvis_desktop.backends.local.worker import Loading, Run
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import ExpertError, Fault
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report

if TYPE_CHECKING:
    from PIL.Image import Image


LONGEST = 64
"""Tokens of a caption, a short answer or a line."""

LONGEST_PAGE = 1024
"""Tokens of all the text in a picture."""

AT_ONCE = 8
"""Lines read at once."""

TRADES = {
    VisionRequest.READ: "read text",
    VisionRequest.DESCRIBE: "describe pictures",
    VisionRequest.ANSWER: "answer questions about pictures",
}


def blip(loading: Loading) -> Talk:
    """BLIP: captions, or short answers where it was tuned for questions."""
    import torch

    processor = processor_of(loading)
    answers = "QuestionAnswering" in " ".join(loading.part("AutoConfig").architectures or ())
    kind = "AutoModelForVisualQuestionAnswering" if answers else "AutoModelForImageTextToText"
    network = loading.network(kind)
    wishes = (
        (VisionRequest.ANSWER, VisionRequest.DESCRIBE) if answers else (VisionRequest.DESCRIBE,)
    )

    def talk(asked: VisionQuestion, report: Report) -> str:
        picture = _one(loading, asked, wishes)
        text = {"text": asked.question or "what is in the picture?"} if answers else {}
        inputs = given_to(processor(images=picture, return_tensors="pt", **text), network)
        with torch.inference_mode():
            output = network.generate(**inputs, max_new_tokens=LONGEST, do_sample=False)
        return str(processor.decode(output[0], skip_special_tokens=True))

    return talk


def blip_2(loading: Loading) -> Talk:
    """BLIP-2: captions, and answers to questions put in its own words."""
    import torch

    processor = processor_of(loading)
    network = loading.network("AutoModelForImageTextToText")

    def talk(asked: VisionQuestion, report: Report) -> str:
        picture = _one(loading, asked, (VisionRequest.ANSWER, VisionRequest.DESCRIBE))
        text = (
            f"Question: {asked.question} Answer:"
            if asked.wish is VisionRequest.ANSWER
            else "a photo of"
        )
        inputs = given_to(processor(images=picture, text=text, return_tensors="pt"), network)
        with torch.inference_mode():
            output = network.generate(**inputs, max_new_tokens=LONGEST, do_sample=False)
        said = str(processor.decode(output[0], skip_special_tokens=True)).strip()
        return said.removeprefix(text)

    return talk


def git(loading: Loading) -> Talk:
    """GIT: captions."""
    import torch

    processor = processor_of(loading)
    network = loading.network("AutoModelForImageTextToText")

    def talk(asked: VisionQuestion, report: Report) -> str:
        picture = _one(loading, asked, (VisionRequest.DESCRIBE,))
        pixels = given_to(processor(images=picture, return_tensors="pt"), network)["pixel_values"]
        with torch.inference_mode():
            output = network.generate(pixel_values=pixels, max_new_tokens=LONGEST, do_sample=False)
        return str(processor.decode(output[0], skip_special_tokens=True))

    return talk


def vilt(loading: Loading) -> Talk:
    """ViLT: chooses out of about 3,000 short answers; English only."""
    import torch

    processor = processor_of(loading)
    network = loading.network("AutoModelForVisualQuestionAnswering")
    labels = labels_of(network)
    longest = int(network.config.max_position_embeddings)

    def talk(asked: VisionQuestion, report: Report) -> str:
        # "What is this?" asks for a description, but a word answers it too.
        asks = (
            (VisionRequest.ANSWER, VisionRequest.DESCRIBE)
            if asked.question
            else (VisionRequest.ANSWER,)
        )
        picture = _one(loading, asked, asks)
        inputs = processor(
            images=picture,
            text=asked.question,
            truncation=True,
            max_length=longest,
            return_tensors="pt",
        )
        with torch.inference_mode():
            scores = network(**given_to(inputs, network)).logits[0]
        return labels[int(scores.argmax())]

    return talk


def florence(loading: Loading) -> Talk:
    """Florence-2: one of its orders for each thing it does."""
    import torch

    orders: Mapping[VisionRequest, str] = {
        VisionRequest.READ: "<OCR>",
        VisionRequest.DESCRIBE: "<DETAILED_CAPTION>",
    }
    processor = processor_of(loading)
    network = loading.network("AutoModelForImageTextToText")
    longest = min(LONGEST_PAGE, int(network.config.text_config.max_position_embeddings) - 1)

    def talk(asked: VisionQuestion, report: Report) -> str:
        picture = _one(loading, asked, tuple(orders))
        order = orders[asked.wish]
        inputs = given_to(processor(images=picture, text=order, return_tensors="pt"), network)
        with torch.inference_mode():
            output = network.generate(
                **inputs, max_new_tokens=longest, num_beams=1, do_sample=False
            )
        (text,) = processor.batch_decode(output, skip_special_tokens=True)
        return str(text)

    return talk


def captioner(loading: Loading) -> Talk:
    """An encoder of pictures with a writer behind it, such as ViT-GPT2."""
    processor, tokenizer = image_processor(loading), loading.part("AutoTokenizer")
    network = loading.network("AutoModelForImageTextToText")

    def talk(asked: VisionQuestion, report: Report) -> str:
        picture = _one(loading, asked, (VisionRequest.DESCRIBE,))
        return _written(processor, tokenizer, network, [picture])[0]

    return talk


def line_reader(loading: Loading) -> Talk:
    """TrOCR: reads one line of print or handwriting; where the lines are is found by RapidOCR."""
    processor, tokenizer = image_processor(loading), loading.part("AutoTokenizer")
    network = loading.network("AutoModelForImageTextToText")

    def talk(asked: VisionQuestion, report: Report) -> str:
        from jarvis_desktop.tasks.images.io import to_array
        from jarvis_desktop.tasks.images.ocr import find_places, rows_of

        _one(loading, asked, (VisionRequest.READ,))
        pages = []
        for picture in asked.pictures:
            rows = rows_of(find_places(to_array(picture)))
            places = [
                (int(at.left), int(at.top), ceil(at.right), ceil(at.bottom))
                for row in rows
                for at in row
            ]
            # A picture of a few words in a large hand is one line to it.
            strips = [picture.crop(edges) for edges in places] or [picture]
            read: list[str] = []
            for at in range(0, len(strips), AT_ONCE):
                report(at / len(strips), f"line {at + 1} of {len(strips)}")
                read += _written(processor, tokenizer, network, strips[at : at + AT_ONCE])
            parts = iter(read)
            lines = [" ".join(next(parts) for _ in row) for row in rows] or read
            pages.append("\n".join(lines))
        return "\n\n".join(pages)

    return talk


def _written(processor: Any, tokenizer: Any, network: Any, pictures: list[Image]) -> list[str]:
    """What is written for each picture."""
    import torch

    pixels = given_to(processor(images=pictures, return_tensors="pt"), network)["pixel_values"]
    with torch.inference_mode():
        output = network.generate(pixels, max_new_tokens=LONGEST, do_sample=False)
    return [text.strip() for text in tokenizer.batch_decode(output, skip_special_tokens=True)]


def _one(loading: Loading, asked: VisionQuestion, wishes: tuple[VisionRequest, ...]) -> Image:
    """The first picture. Raises ExpertError where it is asked for what it does not do."""
    if asked.wish not in wishes:
        does = " and ".join(TRADES[wish] for wish in wishes)
        raise ExpertError(
            tr(
                "{id} can {does}, but not {trades}.",
                id=loading.expert.id,
                does=does,
                trades=TRADES[asked.wish],
            )
        )
    if not asked.pictures:
        raise ExpertError(
            tr(
                "{id} looks at pictures, and {name} has no pictures of its pages.",
                id=loading.expert.id,
                name=asked.name,
            )
        )
    return asked.pictures[0]


MAX_READ_TOKENS = {VisionRequest.READ: 1024, VisionRequest.DESCRIBE: 128, VisionRequest.ANSWER: 256}
"""Tokens of an answer."""

ORDERS = {
    VisionRequest.READ: "Write down all the text in this picture, word for word, and nothing else.",
    VisionRequest.DESCRIBE: "Describe this picture in one or two sentences.",
}

SHORT = "Answer in as few words as possible, with what stands in the document."


@explained
def load_viewer(loading: Loading) -> Run:
    """Any expert that gives text for a picture, by what its settings say it was built as."""
    config = loading.part("AutoConfig")
    kind = str(config.model_type)
    if kind == "vision-encoder-decoder":
        kind = {"donut-swin": "donut"}.get(config.encoder.model_type, "")
        kind = kind or ("trocr" if config.decoder.model_type == "trocr" else "captioner")
    talk = _KINDS.get(kind, chatting)(loading)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        asked = asked_of(call, report)
        report(None, f"looking at {asked.name}")
        answer = talk(asked, report).strip()
        if not answer:
            raise ExpertError(tr("{id} gave no answer.", id=loading.expert.id), fault=Fault.ANSWER)
        return [text_artifact(answer)]

    return run


def chatting(loading: Loading) -> Talk:
    """A vision LLM with a chat template, such as SmolVLM."""
    import torch

    processor = processor_of(loading)
    network = loading.network("AutoModelForImageTextToText")
    if not (processor.chat_template or getattr(processor.tokenizer, "chat_template", None)):
        raise ExpertError(
            tr("{id} has no chat template: it cannot be asked anything.", id=loading.expert.id)
        )

    def talk(asked: VisionQuestion, report: Report) -> str:
        words = _order(asked)
        content: list[dict[str, str]] = [{"type": "image"} for _ in asked.pictures]
        prompt = processor.apply_chat_template(
            [{"role": "user", "content": [*content, {"type": "text", "text": words}]}],
            add_generation_prompt=True,
        )
        pictures = {"images": list(asked.pictures)} if asked.pictures else {}
        inputs = processor(text=prompt, return_tensors="pt", **pictures)
        given = inputs["input_ids"].shape[1]
        room = _context(network.config) - given
        if room < 32:
            raise ExpertError(
                tr("{name} is too long for {id}.", name=asked.name, id=loading.expert.id)
            )
        with torch.inference_mode():
            output = network.generate(
                **given_to(inputs, network),
                max_new_tokens=min(MAX_READ_TOKENS[asked.wish], room),
                do_sample=False,
                num_beams=1,
            )
        return str(processor.decode(output[0][given:], skip_special_tokens=True))

    return talk


def _order(asked: VisionQuestion) -> str:
    """What the vision LLM is told; what the person said is passed on, a document is quoted."""
    if asked.text:
        return f"Document:\n{asked.text}\n\nQuestion about the document: {asked.question}\n{SHORT}"
    if not asked.question:
        return ORDERS[asked.wish]
    return asked.question


def _context(config: Any) -> int:
    """How many tokens it takes, as its settings say it."""
    text = getattr(config, "text_config", config)
    return int(getattr(text, "max_position_embeddings", 0) or 4096)


_KINDS: Mapping[str, Callable[[Loading], Talk]] = {
    "blip": blip,
    "blip-2": blip_2,
    "git": git,
    "vilt": vilt,
    "florence2": florence,
    "captioner": captioner,
    "trocr": line_reader,
    "donut": donut,
    "layoutlm": layout_reader,
}
"""By architecture; all others are asked in a chat."""
