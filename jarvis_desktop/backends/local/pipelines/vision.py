"""What the experts that look at pictures share: the picture as a network takes it, and its labels.

Used in the worker process only. A picture of any size and shape becomes one that no network trips
over, and what is found there is brought back to the person's own.

What is asked about a picture or document, in one form for all experts that talk about them.

Used in the worker process only.

Experts that say in a word what a picture or film shows, and how far away it all is.

Used in the worker process only."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.local.worker import Loading, Run
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.images.classification import CONTENT
from jarvis_desktop.tasks.images.classification import labels_of as labels_named
from jarvis_desktop.tasks.images.findings import NAMED, BoundingBox, label_lines
from jarvis_desktop.tasks.images.io import on_white, read_image, save_png
from jarvis_desktop.tasks.images.to_text import wants_caption
from jarvis_desktop.tasks.naming import asks_for_description

if TYPE_CHECKING:
    from PIL.Image import Image


LONGEST_SIDE = 2048
"""Pixels; networks look at fewer, and masks of more would fill the memory."""

SHORTEST_SIDE = 64
"""Pixels of the longer side, to which a tiny picture is enlarged."""

MOST_STRETCHED = 8
"""How many times as long as wide a picture may be; the rest is filled up with grey."""

LIBRARIES = ("torchvision", "timm", "scipy", "detectron2", "num2words", "sentencepiece")
"""What some architectures of transformers cannot do without."""

GREY = (128, 128, 128)


@dataclass(frozen=True, slots=True)
class Sight:
    """A picture as it was given, and as the networks are shown it."""

    given: Image
    """Upright, RGB."""
    shown: Image
    """Scaled, and filled up at the right or below where it is very long."""
    inner: tuple[int, int]
    """The (width, height) of what it shows of the given picture, in pixels from the upper left."""

    def box(self, label: str, score: float, corners: Any) -> BoundingBox:
        """A box in pixels of the given picture; `corners` are left, top, right, bottom shown."""
        wide, high = self.given.width / self.inner[0], self.given.height / self.inner[1]
        left, top, right, bottom = (float(at) for at in corners)
        right, bottom = min(right, self.inner[0]), min(bottom, self.inner[1])
        return BoundingBox(label, left * wide, top * high, right * wide, bottom * high, score)

    def inside(self, values: Any) -> Any:
        """The part of an array (height, width, ...) over what is shown that has the picture."""
        high, wide = values.shape[:2]
        bottom = max(1, round(high * self.inner[1] / self.shown.height))
        right = max(1, round(wide * self.inner[0] / self.shown.width))
        return values[:bottom, :right]


def sight_of(call: Call, port: str = "image") -> Sight:
    """The picture at a port. Raises InputError where it is none that can be read."""
    return shown(on_white(read_image(call.file(port), name=call.title(port))))


def shown(given: Image) -> Sight:
    """How an RGB picture is shown to networks."""
    from PIL import Image as images

    longest = max(given.size)
    scale = min(LONGEST_SIDE, max(longest, SHORTEST_SIDE)) / longest
    inner = (max(1, round(given.width * scale)), max(1, round(given.height * scale)))
    seen = given if inner == given.size else given.resize(inner, images.Resampling.BICUBIC)
    least = -(-max(inner) // MOST_STRETCHED)
    if min(inner) < least:
        canvas = images.new("RGB", (max(inner[0], least), max(inner[1], least)), GREY)
        canvas.paste(seen, (0, 0))
        seen = canvas
    return Sight(given, seen, inner)


def explained(load: Callable[[Loading], Run]) -> Callable[[Loading], Run]:
    """The loader, raising UnavailableError where an expert needs a library that is not here."""

    @functools.wraps(load)
    def loading_it(loading: Loading) -> Run:
        try:
            return load(loading)
        except ImportError as error:
            named = (name for name in LIBRARIES if name in str(error))
            missing = next(named, error.name or "a library")
            raise UnavailableError(
                tr(
                    "{id} needs {missing}, which is not installed.",
                    id=loading.expert.id,
                    missing=missing,
                ),
                hint=tr("Choose another expert for it."),
            ) from error

    return loading_it


def image_processor(loading: Loading) -> Any:
    """What brings pictures into the form that the expert takes.

    It works with Pillow, so that results are the same whether torchvision is installed or not. A
    few architectures know it with torchvision only: then it takes that, or raises ImportError.
    """
    return loading.part("AutoImageProcessor", backend="pil")


def processor_of(loading: Loading) -> Any:
    """What brings pictures and words into the form that the expert takes.

    Its pictures are worked on with Pillow, as by `image_processor`.
    """
    processor = loading.part("AutoProcessor")
    processor.image_processor = image_processor(loading)
    return processor


def given_to(inputs: Any, network: Any) -> Any:
    """The inputs where the network is, numbers with a point in as many bits as its weights."""
    return inputs.to(network.device, network.dtype)


def labels_of(network: Any) -> Mapping[int, str]:
    """The names of its classes by their numbers."""
    return {int(at): str(label) for at, label in network.config.id2label.items()}


MOST_PAGES = 4
"""Pages of a document that are looked at at once: each takes as much room as a long text."""


class VisionRequest(Enum):
    """What is wanted of a picture."""

    READ = "read"
    """The text in it."""
    DESCRIBE = "describe"
    ANSWER = "answer"
    """The answer to a question about it."""


@dataclass(frozen=True, slots=True)
class VisionQuestion:
    """One request about pictures, or about the text of a document that has none."""

    wish: VisionRequest
    name: str
    """What a person calls the file."""
    pictures: Sequence[Image] = ()
    """Upright, RGB, of a size that networks take; the pages of a document."""
    text: str = ""
    """The text of a document without pictures of its pages."""
    question: str = ""


Talk = Callable[[VisionQuestion, Report], str]
"""Gives the text that was asked for. Raises ExpertError where it cannot do that."""


def asked_of(call: Call, report: Report) -> VisionQuestion:
    """What a call of one of the tasks that talk about pictures asks for."""
    if call.task == "document-question-answering":
        return _asked_of_document(call, report)
    name = call.title("image")
    pictures = _pages(call, "image")
    if call.task == "image-to-text":
        wish = VisionRequest.DESCRIBE if wants_caption(call) else VisionRequest.READ
        return VisionQuestion(wish, name, pictures)
    question = call.text("question")
    wish = VisionRequest.DESCRIBE if asks_for_description(question) else VisionRequest.ANSWER
    return VisionQuestion(wish, name, pictures[:1], question=question)


def _asked_of_document(call: Call, report: Report) -> VisionQuestion:
    name, question = call.title("document"), call.text("question")
    if not question.strip():
        raise InputError(tr("There is no question about {name}.", name=name))
    pages: Sequence[Image] = ()
    if call.inputs["document"][0].kind is Kind.IMAGE:
        return VisionQuestion(
            VisionRequest.ANSWER, name, _pages(call, "document"), question=question
        )
    from jarvis_desktop.tasks.documents.pdf import is_pdf, page_pictures
    from jarvis_desktop.tasks.documents.to_text import read_document

    path = call.file("document")
    if is_pdf(path):
        pages = [shown(page).shown for page in page_pictures(path, name=name, most=MOST_PAGES)]
    if pages:
        return VisionQuestion(VisionRequest.ANSWER, name, pages, question=question)
    text = read_document(path, name=name, report=report, workdir=call.workdir)
    return VisionQuestion(VisionRequest.ANSWER, name, text=text, question=question)


def _pages(call: Call, port: str) -> list[Image]:
    """The pages of a TIFF, or the one picture."""
    from itertools import islice

    from jarvis_desktop.tasks.images.io import on_white, read_pages

    pages = read_pages(call.file(port), name=call.title(port))
    return [shown(on_white(page)).shown for page in islice(pages, MOST_PAGES)]


USUAL_FRAMES = 16
"""Pictures of a film that are looked at, where the expert does not say how many."""

SIGLIP_TOKENS = 64
"""SigLIP was trained with texts filled up to this length."""


@explained
def load_classifier(loading: Loading) -> Run:
    """Names what a picture shows, out of the classes that the expert knows."""
    import torch

    processor = image_processor(loading)
    network = loading.network("AutoModelForImageClassification")

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        about = call.words("about")
        if about != CONTENT:
            raise ExpertError(
                tr(
                    "{id} says what a picture shows, not its {about}.",
                    id=loading.expert.id,
                    about=about,
                )
            )
        inputs = processor(images=sight_of(call).shown, return_tensors="pt")
        with torch.inference_mode():
            logits = network(**given_to(inputs, network)).logits[0]
        return [text_artifact(_ranked(network, logits))]

    return run


@explained
def load_matcher(loading: Loading) -> Run:
    """Compares a picture with each of the labels: CLIP, SigLIP and what is built like them."""
    import torch

    processor, tokenizer = image_processor(loading), loading.part("AutoTokenizer")
    network = loading.network("AutoModelForZeroShotImageClassification")
    siglip = "siglip" in network.config.model_type
    longest = _text_length(network.config)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        labels = labels_named(call.words("labels"))
        texts = [f"This is a photo of {label}." for label in labels]
        words = tokenizer(
            texts,
            padding="max_length" if siglip else True,
            max_length=min(longest, SIGLIP_TOKENS) if siglip else longest,
            truncation=True,
            return_tensors="pt",
        ).to(network.device)
        seen = given_to(processor(images=sight_of(call).shown, return_tensors="pt"), network)
        with torch.inference_mode():
            logits = network(**words, **seen).logits_per_image[0].float()
        # SigLIP judges each label by itself; a person asked which of them it is.
        scores = logits.softmax(-1).tolist()
        pairs = list(zip(labels, scores, strict=True))
        return [text_artifact(label_lines(pairs, most=len(pairs)))]

    return run


@explained
def load_depth(loading: Loading) -> Run:
    """A grey picture in which near is bright."""
    import numpy as np
    from PIL import Image

    near_in = load_nearness(loading)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        sight = sight_of(call)
        report(None, f"looking at {call.title('image')}")
        grey = Image.fromarray(np.asarray(near_in(sight) * 255, np.uint8))
        if grey.size != sight.given.size:
            grey = grey.resize(sight.given.size, Image.Resampling.BICUBIC)
        return [save_png(grey, call, "depth")]

    return run


def load_nearness(loading: Loading) -> Callable[[Sight], Any]:
    """How near all of a picture is, from 0 to the nearest, 1: an array of what is shown of it."""
    import numpy as np
    import torch

    processor = image_processor(loading)
    network = loading.network("AutoModelForDepthEstimation")
    # These give metres; the others give how near something is, on no scale.
    metric = _gives_metres(network.config)

    def near_in(sight: Sight) -> Any:
        inputs = given_to(processor(images=sight.shown, return_tensors="pt"), network)
        with torch.inference_mode():
            output = network(**inputs)
        (found,) = processor.post_process_depth_estimation(
            output, [(sight.shown.height, sight.shown.width)]
        )
        near = np.nan_to_num(sight.inside(found["predicted_depth"].float().cpu().numpy()))
        if metric:
            near = 1.0 / np.clip(near, 0.1, None)
        return (near - near.min()) / (float(np.ptp(near)) or 1.0)  # a picture may be flat

    return near_in


@explained
def load_watcher(loading: Loading) -> Run:
    """Names what is done in a film, by pictures taken out of it evenly."""
    import torch

    processor = image_processor(loading)
    network = loading.network("AutoModelForVideoClassification")
    count = int(getattr(network.config, "num_frames", 0) or USUAL_FRAMES)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        from jarvis_desktop.tasks.video.frames import even_frames

        report(None, f"watching {call.title('video')}")
        frames = even_frames(call.file("video"), count, name=call.title("video"))
        inputs = processor(frames, return_tensors="pt")
        with torch.inference_mode():
            logits = network(**given_to(inputs, network)).logits[0]
        return [text_artifact(_ranked(network, logits))]

    return run


def _ranked(network: Any, logits: Any) -> str:
    """The likeliest classes with their shares, in lines."""
    several = network.config.problem_type == "multi_label_classification" or len(logits) == 1
    scores = (logits.float().sigmoid() if several else logits.float().softmax(-1)).tolist()
    labels = labels_of(network)
    return label_lines(((labels[at], score) for at, score in enumerate(scores)), most=NAMED)


def _text_length(config: Any) -> int:
    """How many tokens of text it takes; 77 as CLIP does where it does not say."""
    return int(getattr(getattr(config, "text_config", config), "max_position_embeddings", 77))


def _gives_metres(config: Any) -> bool:
    return (
        config.model_type in {"glpn", "zoedepth", "depth_pro"}
        or getattr(config, "depth_estimation_type", "") == "metric"
    )
