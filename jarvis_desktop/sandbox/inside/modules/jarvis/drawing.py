"""Draws a chart with Pillow, which comes with the application: bars, lines, a pie, points, or a
histogram."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT = 1000, 600
LEFT, RIGHT, TOP, BOTTOM = 110, 40, 70, 130
INK, GRID = "#222222", "#dddddd"
COLOURS = ("#3366cc", "#dc3912", "#109618", "#ff9900", "#990099", "#0099c6", "#dd4477", "#66aa00")
TELL = 12  # points that are printed
MAX_LABELS = 24  # beside the axis
LABEL_HEIGHT = BOTTOM - 36  # above the name of the axis

Series = Mapping[str, Sequence[float]]


def draw(
    path: Any, data: Any, *, x: Any = None, y: Any = None, kind: str = "bar", title: str = "",
    **others: Any,
) -> str:  # fmt: skip
    """Draw the chart and return what it shows, in a line. Raises ValueError without numbers."""
    kind = kind.lower().replace("chart", "").strip(" _-") or "bar"
    kind = {"column": "bar", "barh": "bar", "hist": "histogram", "points": "scatter"}.get(
        kind, kind
    )
    if kind == "histogram":
        labels, series = _histogram(_values(data, x, y), int(others.get("bins") or 10))
    else:
        labels, series = _points(data, x, y, add=kind in ("bar", "pie"))
    if not labels or not any(series.values()):
        raise ValueError("the chart has nothing to show: give it rows and the columns x and y")
    picture = Image.new("RGB", (WIDTH, HEIGHT), "white")
    pen = ImageDraw.Draw(picture)
    names = (str(others.get("xlabel") or x or ""), str(others.get("ylabel") or y or ""))
    pen.text((WIDTH / 2, 30), str(title), INK, _font(26), anchor="mm")
    if kind == "pie":
        _pie(pen, labels, next(iter(series.values())))
    else:
        _axes(pen, kind, labels, series, names)
    picture.save(path if Path(path).suffix else f"{path}.png")
    return f"{kind} chart, {len(labels)} points: {_told(labels, series)}"


def _points(data: Any, x: Any, y: Any, *, add: bool) -> tuple[list[Any], dict[str, list[float]]]:
    """Return the labels and the values of each series. With `add`, values of the same label are
    added up."""
    if isinstance(data, Mapping):
        data = [{"x": label, "y": value} for label, value in data.items()]
        x, y = "x", "y"
    rows = list(data)
    if rows and isinstance(rows[0], list | tuple):
        rows, x, y = [{"x": row[0], "y": row[-1]} for row in rows], "x", "y"
    elif rows and not isinstance(rows[0], Mapping):
        if isinstance(x, list | tuple):
            rows = [{"x": each, "y": value} for each, value in zip(x, rows, strict=False)]
        else:
            rows = [{"x": number, "y": value} for number, value in enumerate(rows, 1)]
        x, y = "x", "y"
    if rows and (x is None or y is None):
        columns = list(rows[0])
        numeric = [name for name in columns if _is_number(rows[0][name]) and name != x]
        x = columns[0] if x is None else x
        y = y or next((name for name in reversed(numeric) if name != x), columns[-1])
    wanted = list(y) if isinstance(y, list | tuple) else [y]
    rows = [row for row in rows if all(_is_number(row[name]) for name in wanted)]
    labels: list[Any] = [row[x] for row in rows]
    series = {str(name): [float(row[name]) for row in rows] for name in wanted}
    if add and len(set(map(str, labels))) < len(labels):
        for name, values in series.items():
            total: dict[Any, float] = {}
            for label, value in zip(labels, values, strict=True):
                total[label] = total.get(label, 0.0) + value
            series[name] = list(total.values())
        labels = list(dict.fromkeys(labels))
    return labels, series


def _values(data: Any, x: Any, y: Any) -> list[float]:
    if isinstance(data, Mapping):
        data = list(data.values())
    column = y or x
    cells = [row[column] if isinstance(row, Mapping) else row for row in data]
    return [float(cell) for cell in cells if _is_number(cell)]


def _histogram(values: Sequence[float], bins: int) -> tuple[list[Any], dict[str, list[float]]]:
    if not values:
        return [], {}
    low, high = min(values), max(values)
    step = (high - low) / bins or 1.0
    counts = [0.0] * bins
    for value in values:
        counts[min(int((value - low) / step), bins - 1)] += 1
    return [f"{low + step * at:.4g}" for at in range(bins)], {"count": counts}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _axes(
    pen: Any, kind: str, labels: Sequence[Any], series: Series, names: tuple[str, str]
) -> None:
    values = [value for each in series.values() for value in each]
    low, high = min(values), max(values)
    if kind in ("bar", "histogram") or 0 < low < high / 3:
        low = min(low, 0.0)
    high = max(high, 0.0) if kind == "bar" else high
    step = _nice((high - low or abs(high) or 1.0) / 5)
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    high = high if high > low else low + step

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - BOTTOM - TOP)

    small = _font(15)
    for number in range(round((high - low) / step) + 1):
        value = low + number * step
        pen.line((LEFT, up(value), WIDTH - RIGHT, up(value)), GRID)
        pen.text((LEFT - 8, up(value)), f"{value:,.6g}", INK, small, anchor="rm")
    along = _along(labels, kind)
    every = math.ceil(len(labels) / MAX_LABELS)
    crowded = sum(len(str(label)) for label in labels[::every]) > 90
    for label, across in list(zip(labels, along, strict=True))[::every]:
        _label(pen, str(label), across, turned=crowded)
    for number, (name, each) in enumerate(series.items()):
        points = list(zip(along, map(up, each), strict=True))
        colour = COLOURS[number % len(COLOURS)]
        _series(pen, kind, points, colour, up(max(low, 0.0)), number, len(series))
        if len(series) > 1:
            pen.text((WIDTH - RIGHT, TOP + 20 * number), name, colour, small, anchor="rm")
    pen.line((LEFT, TOP, LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM), INK, 2)
    pen.text(((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 18), names[0], INK, small, anchor="mm")
    pen.text((12, TOP - 22), names[1], INK, small, anchor="lm")


def _along(labels: Sequence[Any], kind: str) -> list[float]:
    """Return how far to the right each point is: by its value if there are numbers, else evenly."""
    wide = WIDTH - RIGHT - LEFT
    if kind in ("scatter", "line") and all(map(_is_number, labels)) and len(set(labels)) > 1:
        low, high = min(labels), max(labels)
        return [LEFT + 20 + (each - low) / (high - low) * (wide - 40) for each in labels]
    return [LEFT + (at + 0.5) * wide / len(labels) for at in range(len(labels))]


def _series(
    pen: Any, kind: str, points: Sequence[tuple[float, float]], colour: str, base: float,
    number: int, count: int,
) -> None:  # fmt: skip
    if kind == "line":
        pen.line(points, colour, 3)
    if kind in ("line", "scatter"):
        for across, high in points if len(points) < 80 or kind == "scatter" else ():
            pen.ellipse((across - 4, high - 4, across + 4, high + 4), colour)
        return
    wide = (WIDTH - RIGHT - LEFT) / len(points) * (1.0 if kind == "histogram" else 0.75)
    for across, high in points:
        left = across - wide / 2 + wide / count * number
        pen.rectangle((left, min(high, base), left + wide / count - 1, max(high, base)), colour)


def _label(pen: Any, text: str, across: float, *, turned: bool) -> None:
    text, font = text[:22], _font(14)
    if not turned:
        pen.text((across, HEIGHT - BOTTOM + 8), text, INK, font, anchor="ma")
        return
    slanted = _slanted(text, font)
    while slanted.height > LABEL_HEIGHT:
        text = text[:-2] + "…"
        slanted = _slanted(text, font)
    place = (int(across - slanted.width), HEIGHT - BOTTOM + 6)
    pen.bitmap((max(place[0], 0), place[1]), slanted, INK)


def _slanted(text: str, font: Any) -> Image.Image:
    box = font.getbbox(text)
    paper = Image.new("L", (int(box[2]) + 4, int(box[3]) + 4))
    ImageDraw.Draw(paper).text((2, 2), text, 255, font)
    return paper.rotate(40, expand=True)


def _pie(pen: Any, labels: Sequence[Any], values: Sequence[float]) -> None:
    parts = [(label, max(value, 0.0)) for label, value in zip(labels, values, strict=True)]
    whole = sum(value for _, value in parts) or 1.0
    start = -90.0
    for number, (label, value) in enumerate(parts):
        colour = COLOURS[number % len(COLOURS)]
        end = start + 360 * value / whole
        pen.pieslice((150, 90, 600, 540), start, end, colour, "white", 2)
        start = end
        words = f"{str(label)[:30]}: {value:,.6g} ({100 * value / whole:.1f} %)"
        if number < 16:
            top = 100 + 28 * number
            pen.rectangle((650, top, 668, top + 18), colour)
            pen.text((678, top + 9), words, INK, _font(16), anchor="lm")


def _nice(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return next(power * each for each in (1, 2, 2.5, 5, 10) if power * each >= step * 0.999)


def _font(size: int) -> Any:
    return ImageFont.load_default(size)


def _told(labels: Sequence[Any], series: Series) -> str:
    pairs = [
        f"{label} {' / '.join(f'{each[at]:,.6g}' for each in series.values())}"
        for at, label in enumerate(labels[:TELL])
    ]
    return "; ".join(pairs) + ("; …" if len(labels) > TELL else "")
