"""Writing the history to files: whole or not at all, with pictures, and safe to open."""

import re
import stat
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.storage import export
from jarvis_desktop.storage.history import SqliteHistory
from tests.families import some
from tests.storage.samples import INVENTORY, START, full_turn, small_turn, stored_file, written

PNG = b"\x89PNG\r\n\x1a\n picture"


@pytest.fixture
def history(tmp_path: Path) -> Iterator[SqliteHistory]:
    real = SqliteHistory(
        tmp_path / "history.db",
        store_root=tmp_path / "store",
        inventory=INVENTORY,
        now=lambda: START,
    )
    yield real
    real.close()


def picture(tmp_path: Path, name: str = "aa1.png", content: bytes = PNG) -> Artifact:
    return stored_file(tmp_path / "store", name, content)


class Page(HTMLParser):
    """Every element with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


HARMLESS = frozenset(
    (
        "html head meta title style body h1 h2 h3 article time div p details summary ul ol li pre"
        " code em strong blockquote hr br table thead tbody tr th td a figure figcaption img audio"
        " video"
    ).split()
)

HOSTILE = (
    "<script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "<img src=http://evil.example/x.png>",
    "![x](http://evil.example/x.png)",
    "![x](data:image/svg+xml;base64,AAAA)",
    "[x](javascript:alert(1))",
    "[x](  JaVaScRiPt&colon;alert(1))",
    "<javascript:alert(1)>",
    "[x](data:text/html;base64,AAAA)",
    "[x](vbscript:x)",
    "[x]: javascript:alert(1)\n[x]",
    "<iframe src=//evil.example></iframe>",
    "<svg/onload=alert(1)>",
    "<meta http-equiv=refresh content='0;url=http://evil.example'>",
    "<base href=http://evil.example>",
    "<link rel=stylesheet href=http://evil.example>",
    "```html\n<script>alert(1)</script>\n```",
    "`<b>`",
    "<!-- --><b>",
    "]]><b>",
    "&lt;script&gt; &amp; &#60;b&#62;",
    "\x00<b>\x0b",
    "\ud800<b>",
    "\u202e<b>",
    "| a | b |\n|---|---|\n| <i>1</i> | 2 |",
    "> " * 500 + "deep",
    "[" * 2000,
    "*" * 5000,
)


@pytest.mark.parametrize("hostile", some(HOSTILE))
async def test_a_page_runs_and_loads_nothing_whatever_is_written_in_it(
    history: SqliteHistory, tmp_path: Path, hostile: str
):
    item = picture(tmp_path)
    named = Artifact(Kind.IMAGE, path=item.path, name=hostile)
    history.save("c", Turn("t", START, hostile, reply=hostile, attachments=(named,)))
    for media in ("none", "folder", "inside"):
        out = tmp_path / f"{media}.html"
        await history.export_to(out, "html", media=media)
        text = out.read_text("utf-8")
        assert "Content-Security-Policy" in text
        page = Page(text)
        assert {tag for tag, _ in page.elements} <= HARMLESS
        for tag, attributes in page.elements:
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
            if source := attributes.get("src"):
                assert re.match(r"data:image/png;base64,|folder%20files/", source)
            if tag == "a" and (address := attributes["href"]):
                assert re.match(r"https?:|mailto:|[^:]*$", address), address
            if tag == "meta":
                assert attributes.get("http-equiv", "Content-Security-Policy") != "refresh"


async def test_a_page_shows_pictures_sounds_and_who_did_what(
    history: SqliteHistory, tmp_path: Path
):
    given, made = picture(tmp_path), stored_file(tmp_path / "store", "bb1.wav", b"sound")
    history.save("c", full_turn("t1", given, made))
    history.save("c", small_turn("t2", "and?", reply="# Title\n\n- **one**\n\n`code`", minutes=1))
    history.pin_turn("t2", pinned=True)
    out = tmp_path / "page.html"
    done = await history.export_to(out, "html", media="folder")
    assert (done.conversations, done.files, done.missing) == (1, 2, 0)
    text = out.read_text("utf-8")
    assert '<img src="page%20files/my%20aa1.png"' in text
    assert 'src="page%20files/my%20bb1.wav"' in text
    assert "<strong>one</strong>" in text
    assert "read done" in text
    assert 'class="turn pinned"' in text
    assert (tmp_path / "page files" / "my aa1.png").read_bytes() == PNG
    assert stat.S_IMODE((tmp_path / "page files").stat().st_mode) == 0o700


async def test_what_is_too_large_to_be_inside_or_gone_is_told(
    history: SqliteHistory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(export, "MAX_EMBEDDED_BYTES", 100)
    small, large = picture(tmp_path), picture(tmp_path, "bb1.png", b"x" * 101)
    gone, outside = (
        picture(tmp_path, "cc1.png"),
        Artifact(Kind.IMAGE, path=written(tmp_path / "mine")),
    )
    history.save("c", Turn("t", START, "x", attachments=(small, large, gone, outside)))
    assert gone.path
    gone.path.unlink()
    done = await history.export_to(tmp_path / "x.html", "html", media="inside")
    assert (done.files, done.missing) == (1, 3)
    assert (tmp_path / "x.html").read_text("utf-8").count("(not included)") == 3


async def test_files_get_names_that_any_system_takes_and_overwrite_nothing(
    history: SqliteHistory, tmp_path: Path
):
    names = ("../../x", "a:b?.png", "same.png", "SAME.png", "", "...", "\ud800", "x" * 500)
    items = [
        Artifact(Kind.IMAGE, path=picture(tmp_path, f"{number}{number}z.png").path, name=name)
        for number, name in enumerate(names)
    ]
    history.save("c", Turn("t", START, "x", attachments=tuple(items)))
    mine = written(tmp_path / "out files" / "same.png", "mine")
    done = await history.export_to(tmp_path / "out.md", "markdown", media="folder")
    assert done.files == len(names)
    assert mine.read_text() == "mine"
    found = sorted(path.name for path in (tmp_path / "out files 2").iterdir())
    assert len({name.casefold() for name in found}) == len(names)
    assert all(re.fullmatch(r'[^/\\:*?"<>|%#\0-\x1f]{1,100}\.png', name) for name in found)
    assert not list(tmp_path.glob("*.new"))


async def test_a_place_that_cannot_be_written_leaves_what_was_there(
    history: SqliteHistory, tmp_path: Path
):
    history.save("c", small_turn("t"))
    with pytest.raises(StorageError, match="could not be written"):
        await history.export_to(tmp_path / "gone" / "x.md", "markdown")
    with pytest.raises(StorageError, match="could not be written"):
        await history.export_to(Path("a\0b"), "markdown")
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(StorageError, match="could not be written"):
        await history.export_to(tmp_path / "folder.md", "markdown")
    assert not list(tmp_path.glob(".*.new"))
    with pytest.raises(InputError, match="inside"):
        await history.export_to(tmp_path / "x.md", "markdown", media="inside")
    with pytest.raises(InputError, match="nothing with the id"):
        await history.export_to(tmp_path / "x.md", "markdown", ["typo"])


async def test_some_or_all_in_their_order(history: SqliteHistory, tmp_path: Path):
    for number in range(3):
        history.save(f"c{number}", small_turn(f"t{number}", f"about {number}", minutes=number))
    out = tmp_path / "x.txt"
    assert (await history.export_to(out, "text")).conversations == 3
    assert re.findall(r"about \d", out.read_text()) == ["about 0", "about 1", "about 2"]
    assert (await history.export_to(out, "text", ["t2", "c0"])).conversations == 2
    assert re.findall(r"about \d", out.read_text()) == ["about 2", "about 0"]
