"""Every way from one format to another, through the real backend, read by other libraries."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from zipfile import ZipFile

import av
import docx
import duckdb
import numpy as np
import openpyxl
import pytest
from PIL import Image
from pypdf import PdfReader, PdfWriter

from jarvis_desktop.backends.builtin import BuiltinBackend
from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.tasks.audio.media import write_wav
from jarvis_desktop.tasks.formats.conversion import (
    CONVERT_FILE,
    WAYS,
    convert,
    convert_file,
    sort_of,
)
from jarvis_desktop.tasks.formats.pictures import PICTURES
from jarvis_desktop.tasks.formats.tables import TABLES
from jarvis_desktop.tasks.registry import DEFINITIONS
from tests.tasks.calls import call_of, quiet
from tests.tasks.filming import film

MARKDOWN = """# Report *2024*

Costs **rose**, see [the page](https://example.org/?a=1&b=2) & more.

- one
- two

| town | people |
| --- | --- |
| Zürich | 443000 |
"""


def samples(folder: Path) -> dict[str, Artifact]:
    """A small file of each sort."""
    folder.mkdir(exist_ok=True)
    noise = np.random.default_rng(1).integers(0, 255, (40, 60, 3), np.uint8)
    picture = Image.fromarray(noise)
    picture.save(folder / "photo.png")
    picture.save(
        folder / "moving.gif", save_all=True, append_images=[picture.rotate(180)], duration=100
    )
    (folder / "notes.md").write_text(MARKDOWN, "utf-8")
    (folder / "towns.csv").write_text("town;code;day\nZürich;08001;2024-05-01\nBern;;\n", "utf-8")
    tone = np.sin(np.arange(16_000) * 0.2).astype(np.float32)
    write_wav(folder / "memo.wav", tone, 16_000)
    film(folder / "clip.mkv", seconds=1)
    (path,) = convert_file(
        call_of(CONVERT_FILE.type, folder, file=text("Hello."), format="pdf"), quiet
    )
    assert path.path
    path.path.rename(folder / "letter.pdf")
    named = {
        item.name: Artifact(kind, path=item, name=item.name)
        for item in folder.iterdir()
        if item.is_file() and (kind := kind_of_name(item))
    }
    return {sort_of(item): item for item in named.values()} | {
        "text": text("town;people\nZürich;443000")
    }


def text(words: str) -> Artifact:
    return Artifact(Kind.TEXT, text=words)


def assert_readable(made: Artifact) -> None:
    """Open the file with a library that did not write it, where there is one."""
    path = made.path
    assert path
    assert path.stat().st_size
    match path.suffix[1:]:
        case "png" | "jpg" | "webp" | "gif" | "bmp" | "tiff" | "ico" as ending:
            with Image.open(path) as image:
                image.load()
                assert PICTURES[ending] == image.format
        case "mp3" | "flac" | "ogg" | "opus" | "m4a" | "wav":
            assert seconds(path) == pytest.approx(1.0, abs=0.15)
        case "mp4" | "webm" | "mkv" | "mov":
            with av.open(str(path)) as container:
                assert len(list(container.decode(container.streams.video[0]))) >= 2
        case "pdf":
            assert len(PdfReader(path).pages) >= 1
        case "docx":
            assert (
                any(item.text for item in docx.Document(str(path)).paragraphs)
                or docx.Document(str(path)).tables
            )
        case "odt":
            with ZipFile(path) as archive:
                assert archive.infolist()[0].filename == "mimetype"
                assert b"office:text" in archive.read("content.xml")
        case "xlsx":
            assert openpyxl.load_workbook(path).active["A1"].value == "town"
        case "json":
            assert json.loads(path.read_text("utf-8"))[0]["town"] == "Zürich"
        case "parquet":
            assert duckdb.execute(f"SELECT town FROM '{path}'").fetchall()[0] == ("Zürich",)
        case _:
            assert path.read_text("utf-8").strip()


def seconds(path: Path) -> float:
    with av.open(str(path)) as container:
        frames = list(container.decode(container.streams.audio[0]))
        return sum(frame.samples for frame in frames) / frames[0].sample_rate


@pytest.fixture
async def backend() -> AsyncIterator[BuiltinBackend]:
    backend = BuiltinBackend({item.type.name: item for item in DEFINITIONS}, width=1)
    yield backend
    await backend.close()


async def test_every_way(backend: BuiltinBackend, tmp_path: Path) -> None:
    given = samples(tmp_path / "given")
    before = {item.path: item.path.read_bytes() for item in given.values() if item.path}
    assert given.keys() == WAYS.keys()
    candidate = Candidate(Expert("builtin/convert-file", "convert-file"), "builtin")
    for sort, ways in WAYS.items():
        for ending in ways:
            if sort == "document" and ending in TABLES:
                continue  # only of texts that are tables: test_structured_text.py
            workdir = tmp_path / f"{sort}-{ending}"
            call = call_of(CONVERT_FILE.type, workdir, file=given[sort], format=ending)
            for made in await backend.run(candidate, call, quiet):
                if made.path is None:
                    assert sort in ("pdf", "animation")
                    continue
                assert made.path.suffix == f".{ending}"
                assert_readable(made)
    assert before == {path: path.read_bytes() for path in before}


def converted(item: Artifact | Path, ending: str, workdir: Path) -> list[Artifact]:
    if isinstance(item, Path):
        item = Artifact(kind_of_name(item) or Kind.DOCUMENT, path=item, name=item.name)
    return list(convert_file(call_of(CONVERT_FILE.type, workdir, file=item, format=ending), quiet))


def test_names_and_what_a_file_says_of_itself(tmp_path: Path) -> None:
    image = Image.new("RGB", (40, 20), "red")
    exif = Image.Exif()
    exif[0x010F], exif[0x0112] = "Camera", 6
    image.save(tmp_path / "IMG 7.jpeg", exif=exif)
    (made,) = converted(tmp_path / "IMG 7.jpeg", "png", tmp_path / "a")
    assert (made.name, made.kind) == ("IMG 7.png", Kind.IMAGE)
    assert made.path
    with Image.open(made.path) as turned:
        assert turned.size == (20, 40)
        assert dict(turned.getexif()) == {0x010F: "Camera"}
    (same,) = converted(tmp_path / "IMG 7.jpeg", "jpg", tmp_path / "b")
    assert same.path
    assert same.path.read_bytes() == (tmp_path / "IMG 7.jpeg").read_bytes()


def test_tags_of_a_recording_stay(tmp_path: Path) -> None:
    memo = tmp_path / "memo.wav"
    write_wav(memo, np.zeros((1, 8000), np.float32) + 0.1, 16_000)
    with av.open(str(tmp_path / "song.mp3"), "w") as out, av.open(str(memo)) as source:
        out.metadata["title"] = "A song"
        stream = out.add_stream("libmp3lame", rate=16_000, layout="mono")
        for frame in source.decode(audio=0):
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    for ending in ("flac", "ogg", "m4a"):
        (made,) = converted(tmp_path / "song.mp3", ending, tmp_path / ending)
        with av.open(str(made.path)) as container:
            tags = {**container.metadata, **container.streams.audio[0].metadata}
        assert {key.lower(): value for key, value in tags.items()}["title"] == "A song"


def test_cells_stay_what_they_are(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(
        'name;code;price;day;big;note\n"A; B";007;1.234,50;2024-01-05;1234567890123456789;"a\nb"\n'
        "C;12;3,20;2024-02-06;1;=1+1\n",
        "utf-8",
    )
    (sheet,) = converted(table, "xlsx", tmp_path / "x")
    rows = list(openpyxl.load_workbook(sheet.path).active.iter_rows())
    values = [cell.value for cell in rows[1]]
    assert values[:3] == ["A; B", "007", "1.234,50"]
    assert str(values[3]).startswith("2024-01-05")
    assert values[4:] == ["1234567890123456789", "a\nb"]
    assert (rows[2][5].value, rows[2][5].data_type) == ("=1+1", "s")
    (records,) = converted(sheet, "json", tmp_path / "j")
    assert records.path
    first = json.loads(records.path.read_text("utf-8"))[0]
    assert first["day"] == "2024-01-05"
    assert [first["code"], first["price"], first["note"]] == ["007", "1.234,50", "a\nb"]
    (back,) = converted(records, "csv", tmp_path / "c")
    assert back.path
    assert back.path.read_text("utf-8").startswith("name,code,price,day,big,note\nA; B,007,")


def test_a_film_for_the_web_has_its_sound_and_a_codec_that_browsers_play(tmp_path: Path) -> None:
    film(tmp_path / "a.mp4", seconds=1)
    (made,) = converted(tmp_path / "a.mp4", "webm", tmp_path / "w")
    assert made.path
    with av.open(str(made.path)) as container:
        assert [stream.codec_context.name for stream in container.streams] == ["vp9", "opus"]
    assert seconds(made.path) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("pictures", [1, 12])
@pytest.mark.parametrize("ending", ["mp4", "mov"])
def test_no_picture_is_lost_where_matroska_does_not_say_when_it_is_decoded(
    tmp_path: Path, ending: str, pictures: int
) -> None:
    with av.open(str(tmp_path / "a.mkv"), "w") as out:
        stream = out.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(pictures):
            shade = np.full((48, 64, 3), 20 * number, np.uint8)
            frame = av.VideoFrame.from_ndarray(shade, format="rgb24")
            frame.pts = number
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    (made,) = converted(tmp_path / "a.mkv", ending, tmp_path / "w")
    with av.open(str(made.path)) as container:
        times = [frame.time for frame in container.decode(video=0)]
    assert times == pytest.approx([number / 10 for number in range(pictures)])


def test_each_list_of_records_in_an_object_becomes_a_table(tmp_path: Path) -> None:
    shop = tmp_path / "shop.json"
    people = [{"name": "Ann", "home": {"city": "Bern"}}]
    shop.write_text(json.dumps({"name": "north", "orders": [{"id": 7}], "people": people}))
    orders, names = converted(shop, "csv", tmp_path / "c")
    assert orders.path
    assert names.path
    assert (orders.name, orders.path.read_text("utf-8")) == ("shop-orders.csv", "id\n7\n")
    assert names.path.read_text("utf-8") == "name,home.city\nAnn,Bern\n"


def test_each_page_of_a_scan_becomes_a_picture(tmp_path: Path) -> None:
    scan = tmp_path / "scan.tiff"
    first, second = (Image.new("RGB", (40, 30), colour) for colour in ("red", "blue"))
    first.save(scan, save_all=True, append_images=[second])
    made = converted(scan, "png", tmp_path / "work")
    assert [item.name for item in made] == ["scan-1.png", "scan-2.png"]
    pages = [Image.open(item.path) for item in made if item.path]
    assert [page.getpixel((20, 15)) for page in pages] == [(255, 0, 0), (0, 0, 255)]


def test_each_sheet_becomes_a_file(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for title in ("May", "Jun/e"[:3]):
        book.create_sheet(title).append(["a", title])
    book.save(tmp_path / "year.xlsx")
    made = converted(tmp_path / "year.xlsx", "csv", tmp_path / "w")
    assert [item.name for item in made] == ["year-May.csv", "year-Jun.csv"]


def test_a_document_keeps_its_form(tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text(MARKDOWN, "utf-8")
    for ending in ("docx", "odt", "html"):
        (there,) = converted(notes, ending, tmp_path / ending)
        (back,) = converted(there, "md", tmp_path / f"{ending}-back")
        assert back.path
        said = back.path.read_text("utf-8").replace("**town** | **people**", "town | people")
        assert said == MARKDOWN
    (pdf,) = converted(notes, "pdf", tmp_path / "pdf")
    words = PdfReader(pdf.path or "").pages[0].extract_text()
    assert "Zürich" in words
    assert pdf.name == "notes.pdf"


def test_a_web_page_is_only_read(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<title>T</title><script>alert(1)</script><p onclick='x()'>Hi "
        "<a href='javascript:x'>you</a>"
        "<img src='file:///etc/passwd' alt='map'><iframe src='http://a.example'></iframe>",
        "utf-8",
    )
    (made,) = converted(page, "odt", tmp_path / "o")
    with ZipFile(made.path or "") as archive:
        content = archive.read("content.xml").decode()
    assert "Hi" in content
    assert "[map]" in content
    for word in ("alert", "onclick", "javascript", "passwd", "a.example"):
        assert word not in content


def broken(folder: Path) -> Iterable[tuple[str, bytes, str, str]]:
    """Name, content, wanted ending, and words of the refusal."""
    yield "empty.png", b"", "jpg", "empty"
    yield "cut.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "jpg", "not a picture|damaged"
    yield "noise.mp3", b"no sound at all" * 50, "wav", "cannot be read"
    whole = io.BytesIO()
    Image.effect_noise((90, 90), 40).save(whole, "JPEG")
    yield "half.jpg", whole.getvalue()[:1500], "webp", "is damaged"
    yield "noise.mp4", b"\0\0\0\x18ftypmp42" + b"\1" * 500, "gif", "cannot be read|damaged"
    yield "locked.docx", b"\xd0\xcf\x11\xe0" + b"\0" * 600, "pdf", "password"
    yield "locked.xlsx", b"\xd0\xcf\x11\xe0" + b"\0" * 600, "csv", "password"
    yield "cut.docx", b"PK\x03\x04" + b"\0" * 100, "odt", "damaged"
    yield "cut.parquet", b"PAR1" + b"\0" * 100, "json", "damaged"
    yield "one.json", b'{"a": 1', "csv", "damaged"
    yield "list.json", b"[1, 2]", "csv", "no table"
    yield "cut.pdf", b"%PDF-1.7\n" + b"x" * 300, "png", "damaged"
    yield "zero.csv", b"\n", "xlsx", "empty"


def test_bad_files_get_a_sentence(tmp_path: Path) -> None:
    for name, content, ending, reason in broken(tmp_path):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(InputError, match=reason) as refused:
            converted(path, ending, tmp_path / f"w-{name}")
        assert name in str(refused.value)


def test_a_pdf_with_a_password(tmp_path: Path) -> None:
    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    writer.encrypt("secret")
    writer.write(tmp_path / "locked.pdf")
    for ending in ("png", "docx"):
        with pytest.raises(InputError, match=r"locked\.pdf needs a password"):
            converted(tmp_path / "locked.pdf", ending, tmp_path / ending)


@pytest.mark.parametrize(
    ("name", "ending", "said"),
    [
        ("memo.wav", "png", "memo.wav cannot become PNG. As a recording it can become MP3, FLAC"),
        ("letter.pdf", "dwg", "letter.pdf cannot become DWG. As a PDF it can become TXT"),
        ("photo.png", "", "Say which format photo.png is to have. As a picture it can become PNG"),
    ],
)
def test_where_there_is_no_way(tmp_path: Path, name: str, ending: str, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"x")
    with pytest.raises(InputError) as refused:
        converted(path, ending, tmp_path / "w")
    assert str(refused.value).startswith(said)


def test_letters_without_a_font_are_not_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jarvis_desktop.tasks.formats import document_pdf

    monkeypatch.setattr(document_pdf, "_fonts", lambda: [])
    with pytest.raises(InputError, match="No font of this computer has these letters: 中文"):
        converted(text("中文"), "pdf", tmp_path / "a")


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("- ann@x.org\n\n- bob@x.org, home", [["text"], ["ann@x.org"], ["bob@x.org, home"]]),
        ("name;age\nAnn;3", [["name", "age"], ["Ann", "3"]]),
        ('name,age\n"Ann, Bo",3', [["name", "age"], ["Ann, Bo", "3"]]),
        ("- sea: 12\n- sky: 3", [["text", "value"], ["sea", "12"], ["sky", "3"]]),
    ],
)
def test_the_lines_of_a_text_become_a_table(
    tmp_path: Path, text: str, rows: list[list[str]]
) -> None:
    (made,) = convert(text_artifact(text), "csv", tmp_path, quiet)
    with made.open(encoding="utf-8", newline="") as file:
        assert [*csv.reader(file)] == rows
