"""Draws a chart by matplotlib, in the typeface and the colours of the window. In a child process.

Nothing overlaps whatever the data: long names are cut, many bars lie on their sides, the key of a
pie is beside it, and dates are as close as their labels allow.
"""

from __future__ import annotations

import logging
import os
import textwrap
import tomllib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import language
from jarvis_desktop.paths import shipped, user_paths

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOOK = "JARVIS_DESKTOP_LOOK"
"""The environment variable that tells child processes whether the window is light or dark."""
WIDTH, HEIGHT, DPI = 9.6, 5.4, 150
"""Inches, and pixels per inch."""
MAX_NAME = 28
"""Characters of a name at an axis or in a key."""
MAX_UPRIGHT = 12
"""Bars that stand; more of them, or those with long names, lie."""
MAX_MARKED = 40
"""Points of a line that are marked each."""
MAX_RATIO = 12
"""How much larger the values of one measure may be than those of another on the same axis."""
MIN_SLICE = 0.04
"""The share of a pie from which there is room for a number."""
_FALLBACKS = (
    "DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei", "Droid Sans Fallback", "Microsoft YaHei", "PingFang SC",
    "Hiragino Sans GB", "Arial Unicode MS",
)  # fmt: skip
"""Typefaces for what Inter does not have, the first of those that are there."""
_COLOURS = ("accent", "warning", "done", "danger", "code_keyword", "muted")
MAX_SERIES = len(_COLOURS)

Number = float | int | None
Place = date | float | int | str | None
Format = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """Values under one name, one for each place of the chart; None if there is none."""

    name: str
    values: Sequence[Number]


@dataclass(frozen=True, slots=True)
class Chart:
    """What is drawn. `kind` is "line", "bar", "pie", "scatter" or "histogram".

    `places` are dates, numbers or names. Those of a histogram are the lower ends of its bins, which
    are `width` wide; those of a scatter chart are each series' own, in `own_places`.
    """

    kind: str
    title: str
    places: Sequence[Place]
    series: Sequence[ChartSeries]
    across: str = ""
    """What the places are."""
    up: str = ""
    """What the values are."""
    number: Format = "{:,g}".format
    """Writes a value, with its unit."""
    place_number: Format = "{:,g}".format
    own_places: Sequence[Sequence[Place]] = ()
    width: float = 1.0
    timed: bool = False
    """Whether the names are times, which go from left to right."""


def draw(chart: Chart, path: Path, *, dark: bool = False) -> None:
    """Write the chart as PNG or SVG, by the suffix of the path."""
    # Its list of the system's fonts is made once for all processes.
    os.environ.setdefault("MPLCONFIGDIR", str(user_paths().cache / "matplotlib"))
    # What it misses of weights and signs is drawn with what is there.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    import matplotlib as mpl

    look = _look(dark=dark)
    with mpl.rc_context(look.settings()), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        panels = _panels(chart)
        height = max(_height(chart), 2.1 * len(panels) + 0.8)
        layout = ConstrainedLayoutEngine(w_pad=0.15, h_pad=0.15)
        figure = Figure(figsize=(WIDTH, height), dpi=DPI, layout=layout)
        FigureCanvasAgg(figure)
        all_axes = figure.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
        for at, (axes, panel) in enumerate(zip(all_axes, panels, strict=True)):
            axes.set_prop_cycle(color=[*look.colours[at:], *look.colours[:at]])
            _drawers[panel.kind](axes, panel, look)
            if panel.kind != "pie":
                _finish(axes, panel)
            if len(panel.series) > 1:
                axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
        title = "\n".join(textwrap.wrap(chart.title, 76)[:3])
        all_axes[0].set_title(title, loc="left", pad=14)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _panels(chart: Chart) -> list[Chart]:
    """Return the chart, or one for each measure if one would be flat beside another."""
    peaks = [max((abs(v) for v in it.values if v is not None), default=0) for it in chart.series]
    alike = chart.up or min(peaks) * MAX_RATIO >= max(peaks)
    if alike or chart.kind not in ("line", "bar") or (chart.kind == "bar" and _lies(chart)):
        return [chart]
    parts = [replace(chart, series=[item], up=item.name, across="") for item in chart.series]
    return [*parts[:-1], replace(parts[-1], across=chart.across)]


@dataclass(frozen=True, slots=True)
class _Look:
    """The colours of a theme, and the typefaces that are there."""

    tokens: dict[str, str]
    fonts: tuple[str, ...]

    @property
    def colours(self) -> list[str]:
        return [self.tokens[name] for name in _COLOURS]

    def settings(self) -> Any:
        from cycler import cycler

        paper, ink, quiet = self.tokens["card"], self.tokens["text"], self.tokens["muted"]
        return {
            "font.family": list(self.fonts), "font.size": 10.5, "text.color": ink,
            "figure.facecolor": paper, "axes.facecolor": paper, "savefig.facecolor": paper,
            "axes.titlesize": 14, "axes.titleweight": 600, "axes.titlecolor": ink,
            "axes.labelcolor": quiet, "xtick.color": quiet, "ytick.color": quiet,
            "axes.edgecolor": self.tokens["control"], "axes.spines.top": False,
            "axes.spines.right": False, "axes.spines.left": False, "axes.axisbelow": True,
            "grid.color": self.tokens["border"], "grid.linewidth": 0.8, "ytick.major.size": 0,
            "axes.prop_cycle": cycler(color=self.colours), "legend.frameon": False,
            "axes.unicode_minus": True, "svg.hashsalt": "chart", "path.simplify": True,
            "text.parse_math": False,
        }  # fmt: skip


def _look(*, dark: bool) -> _Look:
    from matplotlib import font_manager

    for file in sorted(shipped("resources", "fonts").glob("*.ttf")):
        font_manager.fontManager.addfont(str(file))
    there = {item.name for item in font_manager.fontManager.ttflist}
    themes = tomllib.loads(shipped("resources", "themes", "tokens.toml").read_text("utf-8"))
    fonts = ("Inter", *(name for name in _FALLBACKS if name in there))
    return _Look(themes["dark" if dark else "light"], fonts)


def _height(chart: Chart) -> float:
    """Inches: more if many bars lie above each other."""
    if chart.kind != "bar" or not _lies(chart):
        return HEIGHT
    return max(HEIGHT, 1.6 + 0.3 * len(chart.places) * max(1.0, 0.5 * len(chart.series)))


def _lies(chart: Chart) -> bool:
    names = _names(chart.places)
    wide = sum(max(len(name), 6) for name in names) > 90 or max(map(len, names)) > 16
    return not chart.timed and (len(names) > MAX_UPRIGHT * 2 or wide)


def _is_time(places: Sequence[Place]) -> bool:
    return bool(places) and all(isinstance(item, date) for item in places)


def _name(place: Place) -> str:
    return one_line(str(place), limit=MAX_NAME)


def _names(places: Sequence[Place]) -> list[str]:
    """Cut long names at their ends, and at their beginnings if all begin alike."""
    names, full = [_name(item) for item in places], [str(item) for item in places]
    if len(set(names)) == len(set(full)):
        return names
    signs = enumerate(zip(*full, strict=False))
    differs = next((at for at, each in signs if len(set(each)) > 1), 0)
    alike = full[0].rfind(" ", 0, differs) + 1
    return [one_line(f"…{name[alike:]}", limit=MAX_NAME) for name in full]


def _line(axes: Axes, chart: Chart, look: _Look) -> None:
    few = len(chart.places) <= MAX_MARKED
    named = isinstance(chart.places[0], str)
    places: Any = range(len(chart.places)) if named else chart.places
    for series in chart.series:
        values = [float("nan") if value is None else float(value) for value in series.values]
        alone = sum(value == value for value in values) == 1  # a single point has no line
        axes.plot(
            places, values, label=_name(series.name), linewidth=2.0 if few else 1.3,
            marker="o" if few or alone else None, markersize=5, solid_joinstyle="round",
        )  # fmt: skip
    if named:
        _name_places(axes, _names(chart.places))
    axes.margins(x=0.02)


def _bar(axes: Axes, chart: Chart, look: _Look) -> None:
    lies, count = _lies(chart), len(chart.series)
    thick = 0.76 / count
    names = _names(chart.places)
    for at, series in enumerate(chart.series):
        where = [place + (at - (count - 1) / 2) * thick for place in range(len(names))]
        values = [0.0 if value is None else float(value) for value in series.values]
        bars = (axes.barh if lies else axes.bar)(where, values, thick, label=_name(series.name))
        if count == 1 and (lies or len(names) <= MAX_UPRIGHT):
            texts = ["" if value is None else chart.number(value) for value in series.values]
            axes.bar_label(bars, texts, padding=4, fontsize=9, color=look.tokens["muted"])
    if lies:
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.margins(x=0.18 if count == 1 else 0.03)
    else:
        axes.margins(y=0.1)
        _name_places(axes, names)


def _name_places(axes: Axes, names: Sequence[str]) -> None:
    """Write names below an axis: all of them, or every n-th if there is no room."""
    step = max(1, -(-len(names) // 24))
    shown = [name if at % step == 0 else "" for at, name in enumerate(names)]
    crowded = max(map(len, names)) * len([name for name in shown if name]) > 95
    axes.set_xticks(
        range(0, len(names), step), [name for name in shown if name] if step > 1 else shown
    )
    axes.tick_params(axis="x", rotation=45 if crowded else 0)
    if crowded:
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")
            label.set_rotation_mode("anchor")


def _pie(axes: Axes, chart: Chart, look: _Look) -> None:
    values = [float(value or 0.0) for value in chart.series[0].values]
    total = sum(values)
    shades = _shades(look, len(values))
    wedges, *_ = axes.pie(
        values, colors=shades, startangle=90, counterclock=False,
        autopct=lambda share: f"{share:.0f} %" if share >= 100 * MIN_SLICE else "",
        pctdistance=0.78, radius=1.0,
        wedgeprops={"linewidth": 1.5, "edgecolor": look.tokens["card"], "width": 0.45},
        textprops={"fontsize": 9.5, "color": look.tokens["card"], "fontweight": 600},
    )  # fmt: skip
    names = [
        f"{name}   {chart.number(value)}  ({100 * value / total:.1f} %)"
        for name, value in zip(_names(chart.places), values, strict=True)
    ]
    axes.legend(wedges, names, loc="center left", bbox_to_anchor=(1.04, 0.5), labelspacing=0.9)


def _shades(look: _Look, count: int) -> list[Any]:
    """Colours for slices: those of the theme, then lighter ones."""
    from matplotlib.colors import to_rgb

    paper = to_rgb(look.tokens["card"])
    found: list[Any] = []
    for part in (0.0, 0.45, 0.7):
        for name in look.colours:
            shade = to_rgb(name)
            found.append(tuple(a + (b - a) * part for a, b in zip(shade, paper, strict=True)))
    return found[:count]


def _scatter(axes: Axes, chart: Chart, look: _Look) -> None:
    points = sum(len(series.values) for series in chart.series)
    size, alpha = (34, 0.8) if points <= 300 else (16, 0.55) if points <= 2000 else (7, 0.35)
    for places, series in zip(chart.own_places, chart.series, strict=True):
        across, up = cast("Any", places), cast("Any", series.values)
        axes.scatter(across, up, s=size, alpha=alpha, linewidths=0, label=_name(series.name))


def _histogram(axes: Axes, chart: Chart, look: _Look) -> None:
    below = [0.0] * len(chart.places)
    for series in chart.series:
        counts = [float(value or 0) for value in series.values]
        axes.bar(
            chart.places, counts, chart.width, below, align="edge", label=_name(series.name),  # type: ignore[arg-type]
            edgecolor=look.tokens["card"], linewidth=0.8,
        )  # fmt: skip
        below = [low + count for low, count in zip(below, counts, strict=True)]


_drawers: dict[str, Callable[[Axes, Chart, _Look], None]] = {
    "line": _line, "bar": _bar, "pie": _pie, "scatter": _scatter, "histogram": _histogram,
}  # fmt: skip


def _finish(axes: Axes, chart: Chart) -> None:
    """Name the axes, and write their numbers and dates."""
    from matplotlib import dates as date_axis
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    lies = chart.kind == "bar" and _lies(chart)
    values, places = (axes.xaxis, axes.yaxis) if lies else (axes.yaxis, axes.xaxis)
    axes.grid(axis="x" if lies else "both" if chart.kind == "scatter" else "y")
    whole = all(float(v).is_integer() for it in chart.series for v in it.values if v is not None)
    values.set_major_locator(MaxNLocator(6, integer=whole, steps=[1, 2, 2.5, 5, 10]))
    values.set_major_formatter(FuncFormatter(lambda value, _: chart.number(value)))
    given = chart.own_places[0] if chart.own_places else chart.places
    dates: Any = date_axis  # without types
    if chart.kind != "bar" and _is_time(given):
        locator = dates.AutoDateLocator(minticks=4, maxticks=9)
        places.set_major_locator(locator)
        day = "%d.%m." if language() == "de" else "%m-%d"
        forms = [] if language() == "en" else ["%Y", "%Y-%m", day, "%H:%M", "%H:%M", "%S"]
        offsets = ["", "", "", *["%Y-%m-%d"] * 3] if forms else None
        places.set_major_formatter(
            dates.ConciseDateFormatter(
                locator, formats=forms or None, zero_formats=forms or None, offset_formats=offsets
            )
        )
    elif chart.kind != "bar" and not isinstance(given[0], str):
        exact = chart.kind == "line"
        places.set_major_locator(MaxNLocator(9, integer=exact, steps=[1, 2, 2.5, 5, 10]))
        places.set_major_formatter(FuncFormatter(lambda value, _: chart.place_number(value)))
    if any(v is not None and v < 0 for it in chart.series for v in it.values):
        (axes.axvline if lies else axes.axhline)(
            0, color=axes.spines["bottom"].get_edgecolor(), linewidth=0.8
        )
    axes.set_xlabel(chart.up if lies else chart.across, loc="right" if lies else "center")
    axes.set_ylabel(chart.across if lies else chart.up)
    if lies:
        axes.spines["bottom"].set_visible(False)
