import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.storage.file_inspection import SAMPLE, sniff
from tests.fake_voice import write_wav
from tests.storage.media import container, office, picture

TYPES = "[Content_Types].xml"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


def kind_and_suffix(content: bytes, name: str) -> tuple[Kind, str]:
    found = sniff(content[:SAMPLE], content[-SAMPLE:], name)
    return found.kind, found.suffix


@pytest.mark.parametrize(
    ("form", "suffix"),
    [
        ("PNG", ".png"),
        ("JPEG", ".jpg"),
        ("GIF", ".gif"),
        ("WEBP", ".webp"),
        ("TIFF", ".tif"),
        ("BMP", ".bmp"),
        ("ICO", ".ico"),
        ("PPM", ".pnm"),
        ("SGI", ".sgi"),
        ("JPEG2000", ".jpx"),
        ("AVIF", ".avif"),
        ("ICNS", ".icns"),
        ("QOI", ".qoi"),
    ],
)
def test_pictures_are_known_by_content_whatever_their_name(form: str, suffix: str):
    content = picture(form)
    for name in (f"a{suffix}", "a.txt", "a.mp3", "a"):
        assert kind_and_suffix(content, name) == (Kind.IMAGE, suffix)


@pytest.mark.parametrize(
    ("name", "sound", "film", "expected"),
    [
        ("a.mp4", "aac", "mpeg4", (Kind.VIDEO, ".mp4")),
        ("b.mp4", "", "mpeg4", (Kind.VIDEO, ".mp4")),
        ("c.mp4", "aac", "", (Kind.AUDIO, ".m4a")),
        ("d.mov", "aac", "mpeg4", (Kind.VIDEO, ".mov")),
        ("e.m4a", "aac", "", (Kind.AUDIO, ".m4a")),
        ("f.mkv", "aac", "mpeg4", (Kind.VIDEO, ".mkv")),
        ("g.mka", "aac", "", (Kind.AUDIO, ".mkv")),
        ("h.webm", "libopus", "libvpx", (Kind.VIDEO, ".webm")),
        ("i.webm", "libopus", "", (Kind.AUDIO, ".webm")),
        ("j.opus", "libopus", "", (Kind.AUDIO, ".ogg")),
        ("k.ogg", "libopus", "", (Kind.AUDIO, ".ogg")),
        ("l.mp3", "libmp3lame", "", (Kind.AUDIO, ".mp3")),
        ("m.flac", "flac", "", (Kind.AUDIO, ".flac")),
        ("n.wma", "wmav2", "", (Kind.AUDIO, ".wma")),
        ("o.wmv", "wmav2", "wmv2", (Kind.VIDEO, ".wmv")),
        ("p.avi", "libmp3lame", "mpeg4", (Kind.VIDEO, ".avi")),
        ("q.mpg", "mp2", "mpeg2video", (Kind.VIDEO, ".mpg")),
        ("r.aiff", "pcm_s16be", "", (Kind.AUDIO, ".aiff")),
        ("s.au", "pcm_s16be", "", (Kind.AUDIO, ".au")),
        ("t.caf", "pcm_s16be", "", (Kind.AUDIO, ".caf")),
        ("u.wav", "pcm_s16le", "", (Kind.AUDIO, ".wav")),
        ("v.3gp", "aac", "mpeg4", (Kind.VIDEO, ".3gp")),
        ("w.flv", "libmp3lame", "flv", (Kind.VIDEO, ".flv")),
    ],
)
def test_sound_and_film_are_told_apart_inside_a_container(
    tmp_path: Path, name: str, sound: str, film: str, expected: tuple[Kind, str]
):
    content = container(tmp_path / name, sound=sound, film=film)
    assert kind_and_suffix(content, name) == expected
    assert kind_and_suffix(content, "noname")[0] == expected[0]


def test_streams_without_a_header(tmp_path: Path):
    film = container(tmp_path / "a", film="mpeg2video", form="mpegts")
    sound = container(tmp_path / "b", sound="aac", form="adts")
    assert kind_and_suffix(film, "a")[0] is Kind.VIDEO
    assert kind_and_suffix(sound, "b") == (Kind.AUDIO, ".aac")
    bare = container(tmp_path / "c.mp3", sound="libmp3lame")
    assert kind_and_suffix(bare[bare.index(b"\xff\xfb") :], "c")[0] is Kind.AUDIO
    assert kind_and_suffix(b"\xff\xe3\x90\x04" + bytes(400), "d") == (Kind.AUDIO, ".mp3")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (office(TYPES, "word/document.xml"), (Kind.DOCUMENT, ".docx")),
        (
            office("docProps/app.xml", "x.xml", "ppt/presentation.xml", TYPES),
            (Kind.DOCUMENT, ".pptx"),
        ),
        (office(TYPES, "_rels/.rels", "xl/workbook.xml"), (Kind.TABLE, ".xlsx")),
        *(
            (office("content.xml", first=("mimetype", f"application/{kind}")), expected)
            for kind, expected in (
                ("vnd.oasis.opendocument.text", (Kind.DOCUMENT, ".odt")),
                ("vnd.oasis.opendocument.spreadsheet", (Kind.TABLE, ".ods")),
                ("vnd.oasis.opendocument.presentation", (Kind.DOCUMENT, ".odp")),
                ("epub+zip", (Kind.DOCUMENT, ".epub")),
            )
        ),
        (b"%PDF-1.7\nall of it plain text", (Kind.DOCUMENT, ".pdf")),
        (b"\n\n%PDF-1.7\n%\xe2\xe3\xcf\xd3" + bytes(20), (Kind.DOCUMENT, ".pdf")),
        (rb"{\rtf1 words}", (Kind.DOCUMENT, ".rtf")),
        (b"P3 # by hand\n1 1 255 0 0 0", (Kind.IMAGE, ".pnm")),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", (Kind.IMAGE, ".heic")),
    ],
)
def test_documents_are_known_by_content(content: bytes, expected: tuple[Kind, str]):
    for name in ("a", "a.txt", "a.pdf", "a.docx"):
        assert kind_and_suffix(content, name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.txt", (Kind.DOCUMENT, ".txt")),
        ("a.MD", (Kind.DOCUMENT, ".md")),
        ("a.svg", (Kind.DOCUMENT, ".svg")),
        ("a.html", (Kind.DOCUMENT, ".html")),
        ("a.eml", (Kind.DOCUMENT, ".eml")),
        ("a.py", (Kind.DOCUMENT, ".txt")),
        ("README", (Kind.DOCUMENT, ".txt")),
        ("a.csv", (Kind.TABLE, ".csv")),
        ("a.tsv", (Kind.TABLE, ".tsv")),
    ],
)
@pytest.mark.parametrize(
    "content",
    [
        b"BMW and MZ, GIF, ID3",
        b"\xef\xbb\xbfwith a mark",
        "Größe 写真 😀".encode(),
        "Größe 写真 😀".encode("utf-16"),
        "\ufeffbig end first".encode("utf-16-be"),
        b"ID3 tags are at the beginning of an MP3 file",
        b"BM\x1b[0m coloured",
    ],
)
def test_text_is_text_whatever_it_begins_with(
    content: bytes, name: str, expected: tuple[Kind, str]
):
    assert kind_and_suffix(content, name) == expected


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b'[{"a": 1}]', Kind.TABLE),
        (b'{"a": 1}\n{"a": 2}\n', Kind.TABLE),
        (b'{"shop": "no\\"rth", "open": true,\n "orders": [{"a": 1}]}', Kind.TABLE),
        (b'{"scripts": {"test": "x"}, "people": [{"a": 1}]}', Kind.DOCUMENT),
        (b'{"a": [1, 2]}', Kind.DOCUMENT),
        (b"[1, 2]", Kind.DOCUMENT),
    ],
)
def test_records_in_json_are_a_table(content: bytes, kind: Kind):
    assert kind_and_suffix(content, "a.json") == (kind, ".json")


def test_old_codings_are_text_too():
    german = "Schöne Grüße aus München, das Frühstück war köstlich.".encode("latin-1")
    russian = "Привет, как дела? Всё хорошо, спасибо.".encode("cp1251")
    assert kind_and_suffix(german, "a")[0] is Kind.DOCUMENT
    assert kind_and_suffix(russian, "a.txt")[0] is Kind.DOCUMENT
    with pytest.raises(InputError):
        sniff(russian, b"", "a")


def test_a_character_cut_by_the_end_of_the_sample_is_no_fault():
    content = b"a" + "ü".encode() * SAMPLE
    assert kind_and_suffix(content, "a.txt") == (Kind.DOCUMENT, ".txt")


def test_only_bytes_text_promises_that_no_nul_follows():
    assert sniff(b"words", b"", "a.txt").plain
    assert sniff(b"a,b", b"", "a.csv").plain
    assert not sniff("words".encode("utf-16"), b"", "a.txt").plain
    assert not sniff(picture("PNG"), b"", "a.png").plain


NOISE = random.Random(1).randbytes(4000)


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (
            NOISE,
            "photo.png",
            "photo.png is not a picture that can be read: its content is something else.",
        ),
        (
            b"<html>not found</html>",
            "photo.png",
            "photo.png is not a picture that can be read: its content is text.",
        ),
        (
            b"#EXTM3U\nfile:///etc/passwd",
            "a.wav",
            "a.wav is not a sound recording that can be read: its content is text.",
        ),
        (NOISE, "a.mp4", "a.mp4 is not a video that can be read: its content is something else."),
        (NOISE, "a.pdf", "a.pdf is not a PDF that can be read: its content is something else."),
        (b"words", "a.docx", "a.docx is not a document that can be read: its content is text."),
        (NOISE, "a.csv", "a.csv is not a table that can be read: its content is something else."),
        (NOISE, "a.txt", "a.txt is not a text that can be read: its content is something else."),
        (
            b"P6 -1 -1 255 ",
            "a.ppm",
            "a.ppm is not a picture that can be read: its content is text.",
        ),
        (NOISE, "a", "a is of no kind that can be read."),
        (bytes(9000), "zeros.bin", "zeros.bin is of no kind that can be read."),
        (b"\x7fELF" + bytes(60), "a.out", "a.out is of no kind that can be read."),
        (office("a.txt"), "a.zip", "a.zip is of no kind that can be read."),
        (office(TYPES, "visio/document.xml"), "a.vsdx", "a.vsdx is of no kind that can be read."),
        (
            office("x", first=("mimetype", "application/x-other")),
            "a",
            "a is of no kind that can be read.",
        ),
        (OLE, "a.msi", "a.msi is of no kind that can be read."),
        (b"\xff\xe9\xff\xff" + bytes(99), "a", "a is of no kind that can be read."),
        (b"\xff\xee\xff", "a", "a is of no kind that can be read."),
        (b"\xff\xe1\x90\x00" + bytes(99), "a", "a is of no kind that can be read."),
        (b"\xff\xfa\xf0\x00" + bytes(99), "a", "a is of no kind that can be read."),
        (b"\xff\xfeo\xd8x\0", "a", "a is of no kind that can be read."),
    ],
)
def test_what_is_of_no_kind_is_refused_by_name(content: bytes, name: str, message: str):
    with pytest.raises(InputError) as caught:
        sniff(content, content, name)
    assert caught.value.message == message
    assert caught.value.hint


def test_old_office_files_go_by_their_name():
    assert kind_and_suffix(OLE, "a.doc") == (Kind.DOCUMENT, ".doc")
    assert kind_and_suffix(OLE, "a.xls") == (Kind.TABLE, ".xls")


@given(st.binary(max_size=400), st.sampled_from(["a", "a.png", "a.txt", "a.mp3", "a.csv", "a.doc"]))
def test_any_bytes_give_a_kind_or_a_reason(content: bytes, name: str):
    answer = ""
    try:
        answer = sniff(content, content, name).suffix
    except InputError as error:
        answer = error.message
    assert answer.startswith((".", f"{name} is "))


def test_a_wav_file(tmp_path: Path):
    content = write_wav(tmp_path / "a.wav").read_bytes()
    assert kind_and_suffix(content, os.fspath(tmp_path / "a.wav")) == (Kind.AUDIO, ".wav")
