"""Pages and seconds that are cut out, and files that become one."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from fpdf import FPDF
from PIL import Image
from pypdf import PdfReader, PdfWriter

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Value
from jarvis_desktop.tasks.audio.media import read_audio, write_wav
from jarvis_desktop.tasks.formats.cut import CUT_FILE, cut_file, page_numbers, spans_of
from jarvis_desktop.tasks.formats.join import JOIN_FILES, join_files
from tests.tasks.calls import call_of, quiet
from tests.tasks.filming import film

RATE = 8000


@pytest.fixture
def report(tmp_path: Path) -> Artifact:
    """A PDF of five pages of 101 to 105 points."""
    writer = PdfWriter()
    for number in range(1, 6):
        writer.add_blank_page(100 + number, 200)
    writer.add_metadata({"/Title": "Rent"})
    writer.write(tmp_path / "report.pdf")
    return Artifact(Kind.DOCUMENT, path=tmp_path / "report.pdf", name="report.pdf")


@pytest.fixture
def memo(tmp_path: Path) -> Artifact:
    """Six seconds, each louder than the one before."""
    write_wav(tmp_path / "memo.wav", np.repeat(np.arange(1, 7) / 10, RATE), RATE)
    return Artifact(Kind.AUDIO, path=tmp_path / "memo.wav", name="memo.wav")


def cut(item: Artifact, tmp_path: Path, **options: Value) -> list[Artifact]:
    return list(cut_file(call_of(CUT_FILE.type, tmp_path / "w", file=item, **options), quiet))


def widths(made: Artifact) -> list[int]:
    return [int(page.mediabox.width) - 100 for page in PdfReader(made.path or "").pages]


def loudness(made: Artifact) -> list[int]:
    assert made.path
    samples, rate = read_audio(made.path)
    return [round(float(at) * 10) for at in samples[0, rate // 2 :: rate]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"pages": "2-4"}, {"report-pages-2-4.pdf": [2, 3, 4]}),
        ({"pages": "last, 1"}, {"report-pages-5+1.pdf": [5, 1]}),
        ({"pages": "odd"}, {"report-pages-1+3+5.pdf": [1, 3, 5]}),
        ({"pages": "last 2", "action": "remove"}, {"report-without-pages-4-5.pdf": [1, 2, 3]}),
        ({"action": "split", "parts": 2},
         {"report-pages-1-3.pdf": [1, 2, 3], "report-pages-4-5.pdf": [4, 5]}),
        ({"action": "split", "pages": "every 4"},
         {"report-pages-1-4.pdf": [1, 2, 3, 4], "report-page-5.pdf": [5]}),
        ({"action": "split", "pages": "3-last"},
         {"report-pages-1-2.pdf": [1, 2], "report-page-3.pdf": [3], "report-page-4.pdf": [4],
          "report-page-5.pdf": [5]}),
    ],
)  # fmt: skip
def test_pages(
    report: Artifact, tmp_path: Path, options: dict[str, Value], expected: dict[str, list[int]]
) -> None:
    made = cut(report, tmp_path, **options)
    assert {item.name: widths(item) for item in made} == expected
    assert PdfReader(made[0].path or "").metadata["/Title"] == "Rent"  # type: ignore[index]


def test_split_without_more_gives_single_pages(report: Artifact, tmp_path: Path) -> None:
    assert [widths(item) for item in cut(report, tmp_path, action="split")] == [
        [1], [2], [3], [4], [5],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "turned"),
    [
        ({"action": "turn-right"}, [90] * 5),
        ({"action": "turn-left", "pages": "2-3"}, [0, 270, 270, 0, 0]),
        ({"action": "turn-over", "pages": "last"}, [0, 0, 0, 0, 180]),
    ],
)
def test_pages_are_turned(
    report: Artifact, tmp_path: Path, options: dict[str, Value], turned: list[int]
) -> None:
    (made,) = cut(report, tmp_path, **options)
    assert made.name == "report-turned.pdf"
    pages = PdfReader(made.path or "").pages
    assert [page.rotation for page in pages] == turned
    assert PdfReader(made.path or "").metadata["/Title"] == "Rent"  # type: ignore[index]


def test_pages_are_turned_so_that_their_text_is_upright(tmp_path: Path) -> None:
    pdf = FPDF()
    for degrees in (0, 90, 180):
        pdf.add_page()
        pdf.set_font("helvetica", size=20)
        with pdf.rotation(degrees, 100, 150):
            pdf.text(60, 150, "the way it should be")
    pdf.output(str(tmp_path / "scan.pdf"))
    writer = PdfWriter(clone_from=tmp_path / "scan.pdf")
    writer.pages[0].rotate(270)
    writer.write(tmp_path / "scan.pdf")
    given = Artifact(Kind.DOCUMENT, path=tmp_path / "scan.pdf", name="scan.pdf")
    (made,) = cut(given, tmp_path, action="upright")
    assert [page.rotation for page in PdfReader(made.path or "").pages] == [0, 90, 180]


def test_what_cannot_be_turned(report: Artifact, memo: Artifact, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Page 2 has no text"):
        cut(report, tmp_path, action="upright", pages="2")
    with pytest.raises(InputError, match="Only pages"):
        cut(memo, tmp_path, action="turn-left")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"times": "0:01-0:03"}, {"memo-0.01-0.03.wav": [2, 3]}),
        ({"times": "last 0:02"}, {"memo-0.04-end.wav": [5, 6]}),
        ({"times": "0:00-0:01, 0:04-0:09"}, {"memo-0.00-0.01+0.04-end.wav": [1, 5, 6]}),
        ({"times": "0:01-0:05", "action": "remove"}, {"memo-without-0.01-0.05.wav": [1, 6]}),
        ({"action": "split"}, {"memo-1.wav": [1, 2, 3], "memo-2.wav": [4, 5, 6]}),
        ({"action": "split", "times": "every 0:04"},
         {"memo-1.wav": [1, 2, 3, 4], "memo-2.wav": [5, 6]}),
        ({"action": "split", "times": "0:01-end"},
         {"memo-1.wav": [1], "memo-2.wav": [2, 3, 4, 5, 6]}),
    ],
)  # fmt: skip
def test_seconds(
    memo: Artifact, tmp_path: Path, options: dict[str, Value], expected: dict[str, list[int]]
) -> None:
    assert {item.name: loudness(item) for item in cut(memo, tmp_path, **options)} == expected


def greys(path: Path) -> list[int]:
    with av.open(str(path)) as container:
        return [round(float(f.to_ndarray(format="gray").mean())) for f in container.decode(video=0)]


def test_a_film_is_cut_with_its_sound(tmp_path: Path) -> None:
    film(tmp_path / "clip.mp4", seconds=3)
    clip = Artifact(Kind.VIDEO, path=tmp_path / "clip.mp4", name="clip.mp4")
    (made,) = cut(clip, tmp_path, times="0:01-0:02")
    assert (made.name, made.kind) == ("clip-0.01-0.02.mp4", Kind.VIDEO)
    assert made.path
    shown = greys(made.path)
    assert len(shown) == 10
    assert all(abs(grey - 75) < 8 for grey in shown)
    samples, rate = read_audio(made.path)
    assert samples.shape[1] / rate == pytest.approx(1.0, abs=0.1)
    assert np.abs(samples).max() > 0.3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "Say which pages of report.pdf are meant"),
        ({"pages": "7"}, "report.pdf has only 5 pages"),
        ({"pages": "0"}, "report.pdf has only 5 pages"),
        ({"pages": "some"}, "“some” names no pages"),
        ({"pages": "1-last", "action": "remove"}, "Nothing of report.pdf would be left"),
    ],
)
def test_pages_that_are_not_there(
    report: Artifact, tmp_path: Path, options: dict[str, Value], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        cut(report, tmp_path, **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "Say which part of memo.wav is meant"),
        ({"times": "0:10-0:20"}, "memo.wav is only 0:06 long"),
        ({"times": "0:03-0:02"}, "0:03 is not before 0:02"),
        ({"times": "soon"}, "“soon” names no part"),
        ({"times": "0:00-end", "action": "remove"}, "Nothing of memo.wav would be left"),
        ({"times": "every 0:00.01", "action": "split"}, "more than 200 files"),
    ],
)
def test_seconds_that_are_not_there(
    memo: Artifact, tmp_path: Path, options: dict[str, Value], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        cut(memo, tmp_path, **options)


def test_only_pdfs_have_pages(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("hello")
    item = Artifact(Kind.DOCUMENT, path=tmp_path / "a.md", name="a.md")
    with pytest.raises(InputError, match=r"a\.md cannot be cut"):
        cut(item, tmp_path, pages="1")


def test_what_a_language_model_may_write() -> None:
    assert page_numbers("3 - 1, EVEN", 4, name="x") == [3, 2, 1, 4]
    assert spans_of("0:05-0:08, 0:01-0:06", 20.0, name="x") == [(1.0, 8.0)]


def join(tmp_path: Path, *items: Artifact, **options: Value) -> Artifact:
    (made,) = join_files(call_of(JOIN_FILES.type, tmp_path / "j", files=items, **options), quiet)
    return made


def test_pictures_and_documents_become_one_pdf(report: Artifact, tmp_path: Path) -> None:
    Image.new("RGB", (200, 100), "red").save(tmp_path / "a.jpg")
    (tmp_path / "b.md").write_text("# hello", "utf-8")
    picture = Artifact(Kind.IMAGE, path=tmp_path / "a.jpg", name="a.jpg")
    text = Artifact(Kind.DOCUMENT, path=tmp_path / "b.md", name="b.md")
    made = join(tmp_path, picture, report, text)
    assert (made.name, made.kind) == ("a-joined.pdf", Kind.DOCUMENT)
    pages = PdfReader(made.path or "").pages
    assert len(pages) == 7
    assert int(pages[0].mediabox.width) == 841
    assert "hello" in pages[6].extract_text()


def test_texts_stay_texts(tmp_path: Path) -> None:
    items = []
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(f"# {name}", "utf-8")
        items.append(Artifact(Kind.DOCUMENT, path=tmp_path / name, name=name))
    made = join(tmp_path, *items)
    assert made.path
    assert made.path.read_text("utf-8") == "# a.md\n\n# b.md\n"


def test_recordings_become_one(memo: Artifact, tmp_path: Path) -> None:
    write_wav(tmp_path / "two.wav", np.full((2, 16_000), 0.5), 16_000)
    two = Artifact(Kind.AUDIO, path=tmp_path / "two.wav", name="two.wav")
    made = join(tmp_path, memo, two)
    assert loudness(made) == [1, 2, 3, 4, 5, 6, 5]
    assert join(tmp_path / "again", memo, two, format="flac").name == "memo-joined.flac"


def test_films_become_one(tmp_path: Path) -> None:
    film(tmp_path / "a.mp4", seconds=1)
    film(tmp_path / "b.mkv", seconds=2, sound=False)
    clips = [Artifact(Kind.VIDEO, path=tmp_path / name, name=name) for name in ("a.mp4", "b.mkv")]
    made = join(tmp_path, *clips)
    assert made.path
    assert len(greys(made.path)) == 30
    samples, rate = read_audio(made.path)
    assert samples.shape[1] / rate == pytest.approx(3.0, abs=0.1)


def test_pictures_become_an_animation_of_the_size_of_the_first(tmp_path: Path) -> None:
    Image.new("RGB", (1600, 400), "red").save(tmp_path / "a.png")
    Image.new("RGB", (30, 90), "blue").save(tmp_path / "b.png")
    items = [Artifact(Kind.IMAGE, path=tmp_path / name, name=name) for name in ("a.png", "b.png")]
    made = join(tmp_path, *items, format="gif")
    assert (made.name, made.kind) == ("a-joined.gif", Kind.IMAGE)
    assert made.path
    with Image.open(made.path) as shown:
        assert (shown.size, getattr(shown, "n_frames", 1)) == ((800, 200), 2)
        assert shown.info["duration"] == 600


def test_what_cannot_be_joined(memo: Artifact, report: Artifact, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"These cannot be joined: memo\.wav, report\.pdf"):
        join(tmp_path, memo, report)
    with pytest.raises(InputError, match=r"cannot be joined as PDF: memo\.wav"):
        join(tmp_path / "b", memo, memo, format="pdf")
    with pytest.raises(InputError, match="joining needs two files"):
        join(tmp_path / "c", memo)
