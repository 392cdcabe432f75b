"""Experts of one trade that give text for pictures: captions, short answers, lines of text.

Each refuses what it was not made for, so that the next candidate is tried. Used in the worker
process only.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.loading import Loading
from jarvis_desktop.backends.looking import Asked, Talk, Wish
from jarvis_desktop.backends.seeing import given_to, image_processor, labels_of, processor_of
from jarvis_desktop.core.call import Report
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.wording import tr

if TYPE_CHECKING:
    from PIL.Image import Image

LONGEST = 64
"""Tokens of a caption, a short answer or a line."""

LONGEST_PAGE = 1024
"""Tokens of all the text in a picture."""

AT_ONCE = 8
"""Lines read at once."""

TRADES = {
    Wish.READ: "read text",
    Wish.DESCRIBE: "describe pictures",
    Wish.ANSWER: "answer questions about pictures",
}


def blip(loading: Loading) -> Talk:
    """BLIP: captions, or short answers where it was tuned for questions."""
    import torch

    processor = processor_of(loading)
    answers = "QuestionAnswering" in " ".join(loading.part("AutoConfig").architectures or ())
    kind = "AutoModelForVisualQuestionAnswering" if answers else "AutoModelForImageTextToText"
    network = loading.network(kind)
    wishes = (Wish.ANSWER, Wish.DESCRIBE) if answers else (Wish.DESCRIBE,)

    def talk(asked: Asked, report: Report) -> str:
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

    def talk(asked: Asked, report: Report) -> str:
        picture = _one(loading, asked, (Wish.ANSWER, Wish.DESCRIBE))
        text = f"Question: {asked.question} Answer:" if asked.wish is Wish.ANSWER else "a photo of"
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

    def talk(asked: Asked, report: Report) -> str:
        picture = _one(loading, asked, (Wish.DESCRIBE,))
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

    def talk(asked: Asked, report: Report) -> str:
        # "What is this?" asks for a description, but a word answers it too.
        asks = (Wish.ANSWER, Wish.DESCRIBE) if asked.question else (Wish.ANSWER,)
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

    orders: Mapping[Wish, str] = {Wish.READ: "<OCR>", Wish.DESCRIBE: "<DETAILED_CAPTION>"}
    processor = processor_of(loading)
    network = loading.network("AutoModelForImageTextToText")
    longest = min(LONGEST_PAGE, int(network.config.text_config.max_position_embeddings) - 1)

    def talk(asked: Asked, report: Report) -> str:
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

    def talk(asked: Asked, report: Report) -> str:
        picture = _one(loading, asked, (Wish.DESCRIBE,))
        return _written(processor, tokenizer, network, [picture])[0]

    return talk


def line_reader(loading: Loading) -> Talk:
    """TrOCR: reads one line of print or handwriting; where the lines are is found by RapidOCR."""
    processor, tokenizer = image_processor(loading), loading.part("AutoTokenizer")
    network = loading.network("AutoModelForImageTextToText")

    def talk(asked: Asked, report: Report) -> str:
        from jarvis_desktop.tasks.layout import rows_of
        from jarvis_desktop.tasks.ocr import find_places
        from jarvis_desktop.tasks.pictures import to_array

        _one(loading, asked, (Wish.READ,))
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


def _one(loading: Loading, asked: Asked, wishes: tuple[Wish, ...]) -> Image:
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
