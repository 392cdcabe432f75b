"""Draws the edges of a picture as thin white lines on black.

Draws the edges of a picture softly, stronger where they are stronger.

Draws the straight lines of a picture.

Draws a picture as a few rough strokes.

Divides a picture into areas of one colour each.

Draws the poses of the people in a picture. No honest method without an expert.

Draws which way the surfaces in a picture face. No honest method without an expert.

Draws how near everything in a picture is. No honest method without an expert."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.task import Call, Port, Report
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.naming import IN_PICTURE


def draw_edges(call: Call, report: Report) -> Iterable[Artifact]:
    """The edges, one pixel wide."""
    from PIL import Image as images

    from jarvis_desktop.tasks.images.control_images import canny
    from jarvis_desktop.tasks.images.io import read_image, save_png, to_array

    path, name = call.file("image"), call.title("image")
    report(None, f"drawing the control picture of {name}")
    pixels = canny(to_array(read_image(path, name=name)))
    return [save_png(images.fromarray(pixels), call, "canny")]


CANNY_CONTROL = define(
    name="canny-control",
    summary="Draws the edges of a picture as thin white lines (Canny), to steer a picture "
    "generator.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE,),
    cues=(
        "canny*", "canny control", "canny-control", "edge detection", "edge map",
        "edges of the picture", "edges of the image", "edges of this", "detect the edges",
        "find the edges", *(f"find ... edges {at}" for at in IN_PICTURE),
        "detect edges", "find edges", "outline of", "outlines of",
        "show the edges", "extract the edges", "draw the edges",
    ),
    method=draw_edges, note="Canny by OpenCV",
)  # fmt: skip


def draw_soft_edges(call: Call, report: Report) -> Iterable[Artifact]:
    """The soft edges."""
    from PIL import Image as images

    from jarvis_desktop.tasks.images.control_images import soft_edges
    from jarvis_desktop.tasks.images.io import read_image, save_png, to_array

    path, name = call.file("image"), call.title("image")
    report(None, f"drawing the control picture of {name}")
    pixels = soft_edges(to_array(read_image(path, name=name)))
    return [save_png(images.fromarray(pixels), call, "hed")]


HED_CONTROL = define(
    name="hed-control",
    summary="Draws the soft edges of a picture, stronger where the light changes more, to "
    "steer a picture generator.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE,),
    cues=(
        "hed", "hed control", "hed-control", "soft edge*", "softedge*", "holistically",
        "boundary map", "soft outline*",
    ),
    method=draw_soft_edges,
    note="soft edges by gradients over several scales; not the HED network itself",
)  # fmt: skip


def draw_straight_lines(call: Call, report: Report) -> Iterable[Artifact]:
    """The straight lines, white on black."""
    from PIL import Image as images

    from jarvis_desktop.tasks.images.control_images import straight_lines
    from jarvis_desktop.tasks.images.io import read_image, save_png, to_array

    path, name = call.file("image"), call.title("image")
    report(None, f"drawing the control picture of {name}")
    pixels = straight_lines(to_array(read_image(path, name=name)))
    return [save_png(images.fromarray(pixels), call, "mlsd")]


MLSD_CONTROL = define(
    name="mlsd-control",
    summary="Draws the straight lines of a picture, such as those of a building, to steer a "
    "picture generator.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE,),
    cues=(
        "mlsd", "mlsd control", "mlsd-control", "m-lsd", "straight line*", "line segment*",
        "line detection", "detect the lines", "detect lines", "find the lines",
        *(f"find ... lines {at}" for at in IN_PICTURE),
        "wireframe",
    ),
    method=draw_straight_lines, note="line segments by OpenCV; not the M-LSD network itself",
)  # fmt: skip


def draw_scribble(call: Call, report: Report) -> Iterable[Artifact]:
    """The rough strokes, white on black."""
    from PIL import Image as images

    from jarvis_desktop.tasks.images.control_images import scribble
    from jarvis_desktop.tasks.images.io import read_image, save_png, to_array

    path, name = call.file("image"), call.title("image")
    report(None, f"drawing the control picture of {name}")
    pixels = scribble(to_array(read_image(path, name=name)))
    return [save_png(images.fromarray(pixels), call, "scribble")]


SCRIBBLE_CONTROL = define(
    name="scribble-control",
    summary="Draws a picture as rough white strokes, like a scribble, to steer a picture "
    "generator.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE,),
    cues=(
        "scribble*", "scribble control", "scribble-control", "rough sketch", "rough outline",
        "doodle", "rough strokes",
    ),
    method=draw_scribble, note="thickened outlines by OpenCV",
)  # fmt: skip


def draw_areas(call: Call, report: Report) -> Iterable[Artifact]:
    """The areas, each in one flat colour."""
    from PIL import Image as images

    from jarvis_desktop.tasks.images.control_images import areas
    from jarvis_desktop.tasks.images.io import read_image, save_png, to_array

    path, name = call.file("image"), call.title("image")
    report(None, f"drawing the control picture of {name}")
    pixels = areas(to_array(read_image(path, name=name)))
    return [save_png(images.fromarray(pixels), call, "seg")]


SEG_CONTROL = define(
    name="seg-control",
    summary="Divides a picture into areas of similar colour, to steer a picture generator; it "
    "does not know what they are.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE,),
    cues=(
        "seg control", "seg-control", "segmentation control", "segmentation map", "colour areas",
        "color areas", "areas of similar colo*", "areas of colo*", "regions of colo*",
        "divide the picture into areas",
    ),
    method=draw_areas, note="areas by colour and place (OpenCV); it does not name them",
)  # fmt: skip


OPENPOSE_CONTROL = define(
    name="openpose-control",
    summary="Draws the poses of the people in a picture as coloured skeletons (OpenPose), to steer "
    "a picture generator.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE,),
    cues=(
        "openpose*", "open pose", "openpose control", "openpose-control", "pose estimation",
        "pose detection", "pose map", "stick figure of", "skeleton of the person",
        "skeletons of the people", "body pose", "detect the pose*", "draw the pose*",
        "extract the pose*", "show the pose*", "find the pose*",
        *(f"find ... pose* {at}" for at in IN_PICTURE),
        "estimate the pose*",
    ),
    note="needs an expert that sees poses",
)  # fmt: skip


NORMAL_CONTROL = define(
    name="normal-control",
    summary="Draws which way the surfaces in a picture face, as a map of normals, to steer a "
    "picture generator.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE,),
    cues=(
        "normal map", "normals map", "normal control", "normal-control", "surface normal*",
        "map of the normals", "map of normals",
    ),
    note="needs an expert that sees depth",
)  # fmt: skip


DEPTH_CONTROL = define(
    name="depth-control",
    summary="Draws how near everything in a picture is, near bright and far dark, to steer a "
    "picture generator.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE,),
    cues=(
        "depth control", "depth-control", "depth control picture", "depth control image",
        "control picture of the depth", "control image of the depth",
    ),
    note="needs an expert that sees depth",
)  # fmt: skip
