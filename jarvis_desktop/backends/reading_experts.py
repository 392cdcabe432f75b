"""Experts that talk about pictures: they read, describe and answer questions.

One download often does all three, so that one loader serves image-to-text, visual question
answering and document question answering. Used in the worker process only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jarvis_desktop.backends.caption_experts import (
    blip,
    blip_2,
    captioner,
    florence,
    git,
    line_reader,
    vilt,
)
from jarvis_desktop.backends.document_experts import donut, layout_reader
from jarvis_desktop.backends.loading import Loading, Run
from jarvis_desktop.backends.looking import Asked, Talk, Wish, asked_of
from jarvis_desktop.backends.seeing import explained, given_to, processor_of
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError, Fault
from jarvis_desktop.core.wording import tr

LONGEST = {Wish.READ: 1024, Wish.DESCRIBE: 128, Wish.ANSWER: 256}
"""Tokens of an answer."""

ORDERS = {
    Wish.READ: "Write down all the text in this picture, word for word, and nothing else.",
    Wish.DESCRIBE: "Describe this picture in one or two sentences.",
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

    def talk(asked: Asked, report: Report) -> str:
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
                max_new_tokens=min(LONGEST[asked.wish], room),
                do_sample=False,
                num_beams=1,
            )
        return str(processor.decode(output[0][given:], skip_special_tokens=True))

    return talk


def _order(asked: Asked) -> str:
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
