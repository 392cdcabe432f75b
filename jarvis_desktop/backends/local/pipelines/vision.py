"""Image and video classification, depth estimation, and what all experts for pictures share.

A picture of any size and shape is scaled to one that every network takes, and results are mapped
back to the original.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Any

import numpy as np
from PIL import Image as images
from PIL.Image import Image

from jarvis_desktop.backends.local.worker import ExpertLoader, Run
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.images.classification import CONTENT
from jarvis_desktop.tasks.images.classification import labels_of as labels_named
from jarvis_desktop.tasks.images.findings import MAX_NAMED_LABELS, BoundingBox, label_lines
from jarvis_desktop.tasks.images.io import on_white, read_image, read_pages, save_png
from jarvis_desktop.tasks.images.to_text import wants_caption
from jarvis_desktop.tasks.naming import asks_for_description

MAX_SIDE = 2048  # pixels; networks look at fewer, and larger masks would fill the memory
MIN_SIDE = 64  # pixels of the longer side, to which a tiny picture is enlarged
MAX_ASPECT_RATIO = 8  # longer pictures are padded with grey
OPTIONAL_LIBRARIES = ("torchvision", "timm", "scipy", "detectron2", "num2words", "sentencepiece")
"""Required by some architectures of transformers."""
GREY = (128, 128, 128)


@dataclass(frozen=True, slots=True)
class PictureView:
    """A picture as it was given, and as networks see it."""

    original: Image  # upright, RGB
    scaled: Image  # scaled, and padded at the right or bottom if it is very long
    inner: tuple[int, int]
    """The (width, height) of the picture within `scaled`, in pixels from the upper left."""

    def box(self, label: str, score: float, corners: Any) -> BoundingBox:
        """A box in the original picture; `corners` are its left, top, right and bottom shown."""
        wide, high = self.original.width / self.inner[0], self.original.height / self.inner[1]
        left, top, right, bottom = (float(at) for at in corners)
        right, bottom = min(right, self.inner[0]), min(bottom, self.inner[1])
        return BoundingBox(label, left * wide, top * high, right * wide, bottom * high, score)

    def inside(self, values: Any) -> Any:
        """Cut the padding off an array (height, width, ...) over what is shown."""
        high, wide = values.shape[:2]
        bottom = max(1, round(high * self.inner[1] / self.scaled.height))
        right = max(1, round(wide * self.inner[0] / self.scaled.width))
        return values[:bottom, :right]


def picture_view(call: Call) -> PictureView:
    """The picture that is given. Raises InputError if it cannot be read."""
    return scale(on_white(read_image(call.file("image"), name=call.title("image"))))


def scale(original: Image) -> PictureView:
    """Scale and pad an RGB picture for networks."""
    longest = max(original.size)
    scale = min(MAX_SIDE, max(longest, MIN_SIDE)) / longest
    inner = (max(1, round(original.width * scale)), max(1, round(original.height * scale)))
    seen = original if inner == original.size else original.resize(inner, images.Resampling.BICUBIC)
    least = -(-max(inner) // MAX_ASPECT_RATIO)
    if min(inner) < least:
        canvas = images.new("RGB", (max(inner[0], least), max(inner[1], least)), GREY)
        canvas.paste(seen, (0, 0))
        seen = canvas
    return PictureView(original, seen, inner)


def requires_libraries(load: Callable[[ExpertLoader], Run]) -> Callable[[ExpertLoader], Run]:
    """Make a loader raise UnavailableError if its expert needs a library that is missing."""

    @functools.wraps(load)
    def loading_it(loading: ExpertLoader) -> Run:
        try:
            return load(loading)
        except ImportError as error:
            named = (name for name in OPTIONAL_LIBRARIES if name in str(error))
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


def image_processor(loading: ExpertLoader) -> Any:
    """The expert's image processor. It uses Pillow, so that results are the same with and without
    torchvision. A few architectures support torchvision only; then that is used, or ImportError is
    raised."""
    return loading.part("AutoImageProcessor", backend="pil")


def processor_of(loading: ExpertLoader) -> Any:
    """The expert's processor of pictures and words; see `image_processor`."""
    processor = loading.part("AutoProcessor")
    processor.image_processor = image_processor(loading)
    return processor


def move_to(inputs: Any, network: Any) -> Any:
    """Move inputs to the network's device, and floats to its type."""
    return inputs.to(network.device, network.dtype)


def look(network: Any, processor: Any, view: PictureView, **more: Any) -> Any:
    """Run a network on a picture; `more` is for its processor."""
    inputs = processor(images=view.scaled, return_tensors="pt", **more)
    return network(**move_to(inputs, network))


def labels_of(network: Any) -> Mapping[int, str]:
    """The names of a network's classes by number."""
    return {int(at): str(label) for at, label in network.config.id2label.items()}


MAX_PAGES = 4  # pages of a document that are shown at once: each takes as much room as a long text


class VisionRequest(Enum):
    """What a picture is wanted for."""

    READ = "read"
    DESCRIBE = "describe"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class VisionQuestion:
    """A request about pictures, or about the text of a document that has none."""

    wish: VisionRequest
    name: str  # the file's title
    pictures: Sequence[Image] = ()  # upright, RGB and scaled; the pages of a document
    text: str = ""  # the text of a document without pictures of its pages
    question: str = ""


AnswerFunction = Callable[[VisionQuestion, Report], str]
"""Returns the text that was asked for. Raises ExpertError if it cannot do that."""


def vision_question(call: Call, report: Report) -> VisionQuestion:
    """Read what a call asks about its picture or document."""
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
        pages = [scale(page).scaled for page in page_pictures(path, name=name, most=MAX_PAGES)]
    if pages:
        return VisionQuestion(VisionRequest.ANSWER, name, pages, question=question)
    text = read_document(path, name=name, report=report, workdir=call.workdir)
    return VisionQuestion(VisionRequest.ANSWER, name, text=text, question=question)


def _pages(call: Call, port: str) -> list[Image]:
    """The pages of a TIFF, or the one picture."""
    pages = read_pages(call.file(port), name=call.title(port))
    return [scale(on_white(page)).scaled for page in islice(pages, MAX_PAGES)]


DEFAULT_FRAMES = 16  # frames of a video, if the expert does not say how many it takes
SIGLIP_TOKENS = 64  # SigLIP was trained with texts padded to this length


@requires_libraries
def load_image_classifier(loading: ExpertLoader) -> Run:
    """Classify a picture by the labels that the expert knows."""
    processor = image_processor(loading)
    network = loading.network("AutoModelForImageClassification")

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        about = call.words("about")
        if about != CONTENT:
            raise loading.error(
                mark("{id} says what a picture shows, not its {about}."), about=about
            )
        inputs = processor(images=picture_view(call).scaled, return_tensors="pt")
        logits = network(**move_to(inputs, network)).logits[0]
        return [text_artifact(_ranked(network, logits))]

    return run


@requires_libraries
def load_zero_shot_image_classifier(loading: ExpertLoader) -> Run:
    """Compare a picture with each of the given labels, by CLIP, SigLIP or a model like them."""
    processor, tokenizer = image_processor(loading), loading.part("AutoTokenizer")
    network = loading.network("AutoModelForZeroShotImageClassification")
    siglip = "siglip" in network.config.model_type
    text_config = getattr(network.config, "text_config", network.config)
    longest = int(getattr(text_config, "max_position_embeddings", 77))  # 77 as CLIP

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
        seen = move_to(processor(images=picture_view(call).scaled, return_tensors="pt"), network)
        logits = network(**words, **seen).logits_per_image[0].float()
        # SigLIP scores labels independently; the user asked which one of them it is.
        scores = logits.softmax(-1).tolist()
        pairs = list(zip(labels, scores, strict=True))
        return [text_artifact(label_lines(pairs, most=len(pairs)))]

    return run


@requires_libraries
def load_depth(loading: ExpertLoader) -> Run:
    """Draw a grey picture in which near is bright."""
    near_in = nearness_estimator(loading)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        view = picture_view(call)
        report(None, tr("Looking at {name}", name=call.title("image")))
        grey = images.fromarray(np.asarray(near_in(view) * 255, np.uint8))
        if grey.size != view.original.size:
            grey = grey.resize(view.original.size, images.Resampling.BICUBIC)
        return [save_png(grey, call, "depth")]

    return run


def nearness_estimator(loading: ExpertLoader) -> Callable[[PictureView], Any]:
    """Estimate how near everything in a picture is: an array over the picture, 0 to 1 (nearest)."""
    processor = image_processor(loading)
    network = loading.network("AutoModelForDepthEstimation")
    # Metric models return metres; the others return nearness on no fixed scale.
    metric = network.config.model_type in {"glpn", "zoedepth", "depth_pro"}
    metric = metric or getattr(network.config, "depth_estimation_type", "") == "metric"

    def near_in(view: PictureView) -> Any:
        output = look(network, processor, view)
        (found,) = processor.post_process_depth_estimation(
            output, [(view.scaled.height, view.scaled.width)]
        )
        near = np.nan_to_num(view.inside(found["predicted_depth"].float().cpu().numpy()))
        if metric:
            near = 1.0 / np.clip(near, 0.1, None)
        return (near - near.min()) / (float(np.ptp(near)) or 1.0)  # it may be flat

    return near_in


@requires_libraries
def load_video_classifier(loading: ExpertLoader) -> Run:
    """Classify a video by frames taken from it evenly."""
    processor = image_processor(loading)
    network = loading.network("AutoModelForVideoClassification")
    count = int(getattr(network.config, "num_frames", 0) or DEFAULT_FRAMES)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        from jarvis_desktop.tasks.video import even_frames

        report(None, tr("Watching {name}", name=call.title("video")))
        frames = even_frames(call.file("video"), count, name=call.title("video"))
        inputs = processor(frames, return_tensors="pt")
        logits = network(**move_to(inputs, network)).logits[0]
        return [text_artifact(_ranked(network, logits))]

    return run


def _ranked(network: Any, logits: Any) -> str:
    several = network.config.problem_type == "multi_label_classification" or len(logits) == 1
    scores = (logits.float().sigmoid() if several else logits.float().softmax(-1)).tolist()
    labels = labels_of(network)
    return label_lines(
        ((labels[at], score) for at, score in enumerate(scores)), most=MAX_NAMED_LABELS
    )
