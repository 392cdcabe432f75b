"""What the experts that look at pictures share: the picture as a network takes it, and its labels.

Used in the worker process only. A picture of any size and shape becomes one that no network trips
over, and what is found there is brought back to the person's own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.loading import Loading, Run
from jarvis_desktop.core.call import Call
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.found import Box
from jarvis_desktop.tasks.pictures import on_white, read_image

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

    def box(self, label: str, score: float, corners: Any) -> Box:
        """A box in pixels of the given picture; `corners` are left, top, right, bottom shown."""
        wide, high = self.given.width / self.inner[0], self.given.height / self.inner[1]
        left, top, right, bottom = (float(at) for at in corners)
        right, bottom = min(right, self.inner[0]), min(bottom, self.inner[1])
        return Box(label, left * wide, top * high, right * wide, bottom * high, score)

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
