"""Requests of two and three wishes, the files they are about, and what must be true of the results.

The first two sets were written before any code of the planner was read, the third when both were
answered. When they were first run, 84 of 134, 50 of 64 and 51 of 70 wishes were right, and 17, 4
and 4 were wrong or lost without a word.
"""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

Check = Callable[["Outcome"], bool]


@dataclass(frozen=True)
class Outcome:
    """What a request brought: the words of its answer, and its files."""

    said: str
    files: dict[str, Path]
    code: int
    timers: tuple[float, ...] = ()
    """Minutes of the timers that were set."""


@dataclass(frozen=True)
class Wishes:
    """A request and its files: those given before a bar, and those only named after it."""

    text: str
    files: str
    wishes: dict[str, Check]
    """A check for each wish, under the wish's own words."""


def says(*patterns: str) -> Check:
    """Whether the answer has all of these."""
    return lambda outcome: all(re.search(each, outcome.said, re.I) for each in patterns)


def made(suffix: str, test: Callable[[Path], bool] = lambda path: True, name: str = "") -> Check:
    """Whether there is a file of this kind, and name, that passes the test."""
    return lambda outcome: any(
        path.suffix.lower().lstrip(".") in suffix.split() and test(path)
        for title, path in outcome.files.items()
        if not name or Path(title).name.lower() == name
    )


def named(outcome: Outcome) -> bool:
    """The check of what nothing here can do: it is never done."""
    return False


PICTURES = "jpg jpeg png webp gif bmp tif tiff"
SOUNDS = "wav mp3 ogg flac m4a opus"
TEXTS = "txt md"


def picture(test: Callable[[Any], bool], suffix: str = PICTURES, name: str = "") -> Check:
    """Whether there is a picture that passes the test."""

    def passes(path: Path) -> bool:
        from PIL import Image

        with Image.open(path) as image:
            return test(image.convert("RGB"))

    return made(suffix, passes, name)


def mean(image: Any, left: float, top: float, right: float, bottom: float) -> Any:
    """The mean colour of a part of a picture; its edges as shares of the picture."""
    wide, high = image.size
    box = (int(left * wide), int(top * high), int(right * wide), int(bottom * high))
    return np.asarray(image.crop(box), dtype=float).reshape(-1, 3).mean(axis=0)


def is_grey(image: Any) -> bool:
    """Whether a picture has no colours."""
    pixels = np.asarray(image, dtype=int)
    return bool((pixels.max(axis=2) - pixels.min(axis=2)).mean() < 4)


def is_upside_down(image: Any) -> bool:
    """Whether the bright sky of photo.jpg is at the bottom."""
    return bool(mean(image, 0.5, 0.6, 1, 1).sum() > mean(image, 0.5, 0, 1, 0.4).sum() + 60)


def is_mirrored(image: Any) -> bool:
    """Whether the red square of photo.jpg, on the left in the sky, is on the right."""
    left, right = mean(image, 0.1, 0.12, 0.28, 0.3), mean(image, 0.72, 0.12, 0.9, 0.3)
    return bool(right[2] + 60 < left[2])


def sound(
    seconds: float, within: float = 0.6, suffix: str = SOUNDS, name: str = "", louder: float = 0
) -> Check:
    """Whether there is a recording of this length."""

    def passes(path: Path) -> bool:
        samples, rate = heard(path)
        loud = float(np.sqrt(np.mean(samples**2))) > louder
        return abs(len(samples) / rate - seconds) <= within and loud

    return made(suffix, passes, name)


def heard(path: Path) -> tuple[Any, int]:
    """The samples of a sound, and its rate."""
    from jarvis_desktop.speech.decoding import RATE, decode

    return decode(path), RATE


def film(test: Callable[[float, bool], bool], suffix: str = "mp4 gif") -> Check:
    """Whether there is a film, whose seconds and presence of sound pass the test."""

    def passes(path: Path) -> bool:
        import av

        with av.open(str(path)) as container:
            seconds = (container.duration or 0) / av.time_base
            return test(seconds, bool(container.streams.audio))

    return made(suffix, passes)


def pdf(pages: int, name: str = "", has: str = "", hasnt: str = "") -> Check:
    """Whether there is a PDF with so many pages, and these words."""

    def passes(path: Path) -> bool:
        from pypdf import PdfReader

        read = PdfReader(path)
        text = "\n".join(page.extract_text() for page in read.pages)
        words = re.search(has, text, re.I | re.S) and not (hasnt and re.search(hasnt, text, re.I))
        return len(read.pages) == pages and bool(words)

    return made("pdf", passes, name)


def text_file(*patterns: str, suffix: str = TEXTS, name: str = "", without: str = "") -> Check:
    """Whether there is a text file with all of these."""

    def passes(path: Path) -> bool:
        text = path.read_text(encoding="utf-8")
        return all(re.search(each, text, re.S | re.M) for each in patterns) and not (
            without and re.search(without, text, re.M)
        )

    return made(suffix, passes, name)


def document(*patterns: str, name: str = "") -> Check:
    """Whether there is a DOCX with all of these."""

    def passes(path: Path) -> bool:
        with zipfile.ZipFile(path) as archive:
            text = re.sub("<[^>]+>", " ", archive.read("word/document.xml").decode())
        return all(re.search(each, text, re.I) for each in patterns)

    return made("docx", passes, name)


def table(
    test: Callable[[list[list[str]]], bool], suffix: str = "csv xlsx json", name: str = ""
) -> Check:
    """Whether there is a table, whose rows (the first is the header) pass the test."""

    def passes(path: Path) -> bool:
        import openpyxl

        if path.suffix == ".xlsx":
            found = [[*map(str, row)] for row in openpyxl.load_workbook(path).active.values]
        elif path.suffix == ".json":
            entries = json.loads(path.read_text(encoding="utf-8"))
            found = [list(entries[0]), *([*map(str, each.values())] for each in entries)]
        else:
            found = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
        return test(found)

    return made(suffix, passes, name)


def shown(*patterns: str) -> Check:
    """Whether the answer or a text file has all of these, in this writing."""

    def passes(outcome: Outcome) -> bool:
        texts = [
            path.read_text(encoding="utf-8")
            for path in outcome.files.values()
            if path.suffix[1:] in TEXTS.split()
        ]
        return any(
            all(re.search(each, text, re.M | re.S) for each in patterns)
            for text in [outcome.said, *texts]
        )

    return passes


def either(*checks: Check) -> Check:
    """Whether one of the checks passes."""
    return lambda outcome: any(check(outcome) for check in checks)


def timer(minutes: float) -> Check:
    """Whether such a timer was set."""
    return lambda outcome: any(abs(each - minutes) < 0.1 for each in outcome.timers)


CLOCK = r"\b\d{1,2}:\d\d\b"
COIN, DIE = r"\b(heads|tails)\b", r"\b[1-6]\b"
TODAY = date.today()
MEMO = "Good morning. The meeting starts at ten. Please bring the printed report and a pen."
MEMO_WORDS = ("meeting starts at (ten|10)", "printed report")
ARTICLE = """The old harbour of Lindon has been turned into a public garden. For thirty years the
quays were closed, because the ships had become too large for the narrow entrance. The city bought
the land in 2015 and asked the neighbours what they wanted. Most of them wanted trees, benches and a
place where children can play near the water. The garden cost four million euros, less than the city
had expected. It opens on Saturday with a concert and a boat race. The mayor says that the garden is
the best thing that has happened to Lindon for a generation. Some fishermen are less happy, because
they have lost the sheds in which they kept their nets.
"""
ARTICLE_WORDS = str(len(ARTICLE.split()))
GERMAN = """Der Sommer war in diesem Jahr sehr trocken, und die Bauern klagen über die Ernte.
Viele Felder sind braun, und die Flüsse führen kaum noch Wasser. Die Regierung hat den Bauern Hilfe
versprochen. Der Regen soll in der nächsten Woche kommen.
"""
LETTER = """Dear Mr Brown, thank you for the wonderful evening on 12 March 2024. The dinner in
Oxford was excellent and we loved the music. We would be happy to come again. Yours, Susan Miller
"""
PAGES = ("Chapter one tells of the river.", "Chapter two is about the mountains.",
         "Chapter three describes the desert.", "Chapter four ends by the sea.")  # fmt: skip
SALES = """date,city,product,amount
2024-01-05,Oslo,Lamp,120
2024-01-19,Rome,Chair,310
2024-02-02,Oslo,Table,450
2024-02-14,Paris,Lamp,95
2024-02-27,Rome,Table,505
2024-03-08,Paris,Chair,240
2024-03-15,Oslo,Chair,180
2024-03-30,Rome,Lamp,130
"""  # Rome 945, Oslo 750, Paris 335; 2030 in all, 253.75 on average; Lamp 345, Chair 730, Table 955
STAFF = """name,department,salary
Wilson,Sales,31000
Adams,Sales,28000
Parker,Design,35500
Young,Design,29000
Clark,Support,24500
Baker,Sales,33000
"""  # means: Sales 30,666.67, Design 32,250, Support 24,500
RICH = ["Baker", "Parker", "Wilson"]


def column(rows: list[list[str]], name: str) -> list[str]:
    """A column of a table by the start of its name, without regard for case."""
    place = next(i for i, each in enumerate(rows[0]) if each.lower().startswith(name))
    return [row[place] for row in rows[1:]]


def _in_order(rows: list[list[str]], name: str, *, descending: bool = False) -> bool:
    values = column(rows, name)
    keys: list[Any] = [float(v) for v in values] if values[0][:1].isdigit() else values
    return keys == sorted(keys, reverse=descending)


def _day(day: date) -> str:
    """A date as an answer may write it, in a pattern."""
    return rf"{day:%B} {day.day}\b|\b{day.day}\.? {day:%B}|{day:%Y-%m-%d}"


def _has_writing(image: Any) -> bool:
    """Whether something is written in the lower part of photo.jpg, which is plain."""
    high = image.height
    return bool(np.asarray(image.crop((0, int(0.75 * high), image.width, high))).std() > 45)


def _is_blurred(image: Any) -> bool:
    """Whether the grain of photo.jpg is gone."""
    return bool(np.asarray(image.convert("L").crop((60, 220, 740, 285))).std() < 2)


def _is_sepia(image: Any) -> bool:
    """Whether the sky of photo.jpg is brown."""
    red, _, blue = mean(image, 0.5, 0, 1, 0.3)
    return bool(red > blue + 10)


def _has_red_writing(image: Any) -> bool:
    """Whether letters in the lower part of photo.jpg are red."""
    part = np.asarray(image.crop((0, int(0.7 * image.height), *image.size)), dtype=int)
    red = (part[..., 0] > 180) & (part[..., 1] < 90) & (part[..., 2] < 90)
    return bool(red.mean() > 0.005)


def _is_turned_left(image: Any) -> bool:
    """Whether the bright sky of photo.jpg is on the left."""
    left, right = mean(image, 0, 0.1, 0.4, 0.4), mean(image, 0.6, 0.1, 1, 0.4)
    return image.size == (600, 800) and bool(left.sum() > right.sum() + 60)


def _only(path: Path) -> Outcome:
    return Outcome("", {path.name: path}, 0)


def _page(path: Path) -> Any:
    """The picture on the first page of a PDF, as it is shown."""
    import pypdfium2

    with pypdfium2.PdfDocument(path) as read:
        shown_page = read[0].render().to_pil().convert("RGB")
    box = np.argwhere(np.asarray(shown_page).sum(axis=2) < 740)
    (top, left), (bottom, right) = box.min(axis=0), box.max(axis=0)
    return shown_page.crop((left, top, right, bottom))


def _turned(path: Path) -> list[int]:
    """The numbers of the pages of a PDF that are turned."""
    from pypdf import PdfReader

    return [i for i, page in enumerate(PdfReader(path).pages) if page.rotation % 360]


def _article_sentences(said: str) -> int:
    """How many sentences of the article are in an answer."""
    flat = " ".join(said.split())
    sentences = re.split(r"(?<=\.) ", " ".join(ARTICLE.split()))
    return sum(each in flat for each in sentences)


def write_files(folder: Path) -> None:
    """Write the files that the requests are about."""
    _write_texts(folder)
    _write_pictures(folder)
    _write_documents(folder)
    _write_sounds(folder)


def _write_texts(folder: Path) -> None:
    texts = {
        "article.txt": ARTICLE,
        "german.txt": GERMAN,
        "letter.txt": LETTER,
        "list.txt": "pears\napples\nbread\napples\nmilk\n",
        "notes.txt": "Call Anna on Monday.\nBuy milk on Monday evening.\n",
        "notizen.txt": "Am Montag Anna anrufen.\nMilch kaufen, Montag.\n",
        "sales.csv": SALES,
        "staff.csv": STAFF,
        "dupes.csv": "item,price\nPen,2\nCup,5\nPen,2\nBag,19\nCup,5\nHat,12\n",
        "umsatz.csv": "Stadt;Umsatz\nKöln;1250\nBerlin;980\nMainz;410\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def _write_pictures(folder: Path) -> None:
    from PIL import Image, ImageDraw, ImageFont

    noise = np.random.default_rng(5).normal(0, 3, (600, 800, 1))
    pixels = np.zeros((600, 800, 3))
    pixels[:300], pixels[300:] = (150, 200, 250), (30, 90, 40)
    pixels[50:200, 60:240] = (220, 30, 30)
    Image.fromarray(np.clip(pixels + noise, 0, 255).astype(np.uint8)).save(folder / "photo.jpg")
    second = Image.new("RGB", (400, 300), (90, 100, 110))
    ImageDraw.Draw(second).ellipse((80, 60, 240, 220), fill=(140, 90, 60))
    second.save(folder / "second.png")
    sign = Image.new("RGB", (900, 220), "white")
    font = ImageFont.load_default(size=48)
    ImageDraw.Draw(sign).text((40, 70), "The library is closed on Monday", "black", font)
    sign.save(folder / "sign.png")


def _write_documents(folder: Path) -> None:
    for name, pages in {
        "report.pdf": PAGES,
        "letter.pdf": (LETTER,),
        "bericht.pdf": PAGES,
    }.items():
        _write_pdf(folder / name, pages)


def _write_pdf(to: Path, pages: tuple[str, ...]) -> None:
    from fpdf import FPDF

    written = FPDF()
    written.set_font("Helvetica", size=14)
    for text in pages:
        written.add_page()
        written.multi_cell(0, 10, text)
    written.output(str(to))


def _write_sounds(folder: Path) -> None:
    from jarvis_desktop.speech.decoding import RATE
    from tests.films import write_film
    from tests.synthetic_speech import NEURAL, spoken, write

    write(spoken(MEMO, voice=NEURAL), folder / "memo.wav")
    time = np.arange(30 * RATE) / RATE
    notes = 220 * 2 ** (np.floor(time * 2) % 5 / 6)
    write(0.1 * np.sin(2 * np.pi * notes * time), folder / "song.wav")
    write(0.1 * np.sin(2 * np.pi * 330 * time[: 6 * RATE]), folder / "tone.wav")
    write_film(folder / "clip.mp4", sound=folder / "tone.wav")
    (folder / "tone.wav").unlink()


first = [
    # Pictures
    Wishes("make photo.jpg black and white, then turn it upside down", "|photo.jpg", {
        "black and white": picture(is_grey),
        "turn it upside down": picture(lambda i: is_grey(i) and is_upside_down(i))}),
    Wishes("Resize this to 400 pixels wide and save it as small.png", "photo.jpg", {
        "resize": picture(lambda i: i.size == (400, 300)),
        "save it as small.png": picture(lambda i: i.size == (400, 300), "png", "small.png")}),
    Wishes("what does it say on the sign, and what language is that?", "sign.png", {
        "say on the sign": says("closed on monday"),
        "language": says("english")}),
    Wishes("Can you crop this to a square? Also I'd like it as a webp", "photo.jpg", {
        "crop": picture(lambda i: abs(i.width - i.height) <= 2),
        "webp": picture(lambda i: abs(i.width - i.height) <= 2, "webp")}),
    Wishes("read me the text in this picture, then put it in all caps", "sign.png", {
        "text in this picture": says("closed on monday"),
        "all caps": shown("CLOSED ON MONDAY")}),
    Wishes("flip it left to right. After that write Happy Birthday underneath", "photo.jpg", {
        "flip": picture(is_mirrored),
        "write happy birthday": picture(lambda i: is_mirrored(i) and _has_writing(i))}),
    Wishes("How big is this picture and what kind of file is it?", "photo.jpg", {
        "how big": says(r"800\D{1,30}600"),
        "kind of file": says("jpe?g")}),
    Wishes("put both pictures in one pdf and call it album.pdf", "photo.jpg second.png", {
        "one pdf": pdf(2),
        "album.pdf": pdf(2, "album.pdf")}),
    Wishes("blur photo.jpg and make second.png brighter please", "|photo.jpg second.png", {
        "blur": picture(lambda i: i.size == (800, 600) and _is_blurred(i)),
        "brighter": picture(lambda i: i.size == (400, 300) and mean(i, 0, 0, 1, 1).sum() > 330)}),
    Wishes("turn it 90 degrees clockwise plus make it half the size", "photo.jpg", {
        "turn": picture(lambda i: i.width < i.height
                        and mean(i, 0, 0.5, 0.4, 1).sum() + 60 < mean(i, 0.6, 0.5, 1, 1).sum()),
        "half the size": picture(lambda i: i.size == (300, 400))}),
    # Recordings
    Wishes("cut the first 5 seconds off song.wav and make it an mp3", "|song.wav", {
        "cut": sound(25), "mp3": sound(25, suffix="mp3")}),
    Wishes("transcribe this and tell me how many words there are", "memo.wav", {
        "transcribe": says(*MEMO_WORDS),
        "how many words": says(r"\b15 words|words\D{1,12}15\b")}),
    Wishes("how long is this recording and what language are they speaking?", "memo.wav", {
        "how long": says(r"\d\d?([.,]\d+)? s|0:0\d"),
        "language": says("english")}),
    Wishes("Type up what's said in memo.wav and save it as minutes.txt", "|memo.wav", {
        "type up": either(says(*MEMO_WORDS), text_file(*MEMO_WORDS)),
        "save it as minutes.txt": text_file(*MEMO_WORDS, name="minutes.txt")}),
    Wishes("Keep only the first 10 seconds. While you're at it, make it twice as fast.",
           "song.wav", {
        "keep only": either(sound(10), sound(5)),
        "twice as fast": sound(5)}),
    Wishes("join these two and give me one mp3", "song.wav memo.wav", {
        "join": sound(35.5, 2.5), "mp3": sound(35.5, 2.5, "mp3")}),
    Wishes("get rid of the hiss in this recording and write down what they say", "memo.wav", {
        "hiss": sound(5.5, 2.5), "write down": says(*MEMO_WORDS)}),
    # Films
    Wishes("take the sound out of clip.mp4 and make it an mp3", "|clip.mp4", {
        "sound out": sound(6), "mp3": sound(6, suffix="mp3")}),
    Wishes("grab a still from the middle of the video and make it black and white", "clip.mp4", {
        "still": picture(lambda i: i.size == (64, 48)),
        "black and white": picture(lambda i: i.size == (64, 48) and is_grey(i))}),
    Wishes("turn the first 3 seconds of this film into a gif", "clip.mp4", {
        "first 3 seconds": film(lambda s, _: 2.4 < s < 3.3),
        "gif": film(lambda s, _: True, "gif")}),
    # Documents
    Wishes("pull pages 2 and 3 out of report.pdf and save them as middle.pdf", "|report.pdf", {
        "pull": pdf(2, has="mountains.*desert"),
        "middle.pdf": pdf(2, "middle.pdf", has="mountains.*desert")}),
    Wishes("summarise this in two sentences and count the words of the article", "article.txt", {
        "summarise": lambda o: 1 <= _article_sentences(o.said) <= 2,
        "count": says(rf"\b{ARTICLE_WORDS}\b")}),
    Wishes("what are the key words here, and which language is it written in?", "german.txt", {
        "key words": says("Bauern|Ernte|Sommer"), "language": says("german")}),
    Wishes("Get me the text out of this PDF and put it into a Word file", "report.pdf", {
        "text": either(says("mountains"), document("mountains")),
        "word": document("mountains", "desert")}),
    Wishes("turn page 2 into a picture and make it grey", "report.pdf", {
        "page 2": picture(lambda i: i.height > i.width),
        "grey": picture(lambda i: i.height > i.width and is_grey(i))}),
    Wishes("Delete the last page, then rotate the first one", "report.pdf", {
        "delete": pdf(3, hasnt="sea"),
        "rotate": made("pdf", lambda p: _turned(p) == [0])}),
    Wishes("list the dates and names in this letter, and say if it sounds positive or negative",
           "letter.txt", {
        "dates and names": says("12 March 2024", "Susan Miller|Brown"),
        "positive": says("positive")}),
    # Tables
    Wishes("which city sold the most and what was the average amount?", "sales.csv", {
        "which city": says("Rome"), "average": says(r"253\.75")}),
    Wishes("sort the table by salary, highest first, and save it as an excel file", "staff.csv", {
        "sort": table(lambda r: _in_order(r, "salary", descending=True)),
        "excel": table(lambda r: _in_order(r, "salary", descending=True), "xlsx")}),
    Wishes("Draw a bar chart of the amount per city and save it as chart.png", "sales.csv", {
        "bar chart": picture(lambda i: i.width > 200),
        "chart.png": picture(lambda i: i.width > 200, "png", "chart.png")}),
    Wishes("how many people work in Sales? And who earns the most?", "staff.csv", {
        "how many": says(r"\b3\b"), "who": says("Parker")}),
    Wishes("remove the duplicate rows and then give it to me as json", "dupes.csv", {
        "duplicate": table(lambda r: len(r) == 5), "json": table(lambda r: len(r) == 5, "json")}),
    Wishes("who earns more than 30000? Save that as wellpaid.csv", "staff.csv", {
        "who earns": either(says(*RICH), table(lambda r: sorted(column(r, "name")) == RICH)),
        "wellpaid.csv": table(lambda r: sorted(column(r, "name")) == RICH, "csv", "wellpaid.csv")}),
    # Texts
    Wishes("sort the lines in list.txt alphabetically and number them", "|list.txt", {
        "sort": shown("apples.*bread.*milk.*pears"), "number": shown(r"1\W+apples.*5\W+pears")}),
    Wishes("replace Monday with Friday in notes.txt and make everything upper case", "|notes.txt", {
        "replace": shown("(?i)anna on friday"), "upper case": shown("ANNA ON FRIDAY")}),
    Wishes("spell necessary and tell me how many letters it's got", "", {
        "spell": says(r"n\W+e\W+c\W+e\W+s\W+s"), "how many letters": says(r"\b9\b|nine")}),
    # Everyday
    Wishes("how much is 18 times 24 and what time is it in Tokyo", "", {
        "18 times 24": says("432"), "time": says(CLOCK)}),
    Wishes("set a timer for 12 minutes and flip a coin", "", {
        "timer": timer(12), "coin": says(COIN)}),
    Wishes("roll a dice and tell me what day of the week christmas is", "", {
        "dice": says(DIE), "day of the week": says(f"{date(TODAY.year, 12, 25):%A}")}),
    Wishes("convert 5 miles to km and 70 fahrenheit to celsius", "", {
        "miles": says(r"8\.0"), "fahrenheit": says(r"21\.1")}),
    # Three wishes
    Wishes("Transcribe this, find out which language it's in and save the text as notes.txt",
           "memo.wav", {
        "transcribe": either(says(*MEMO_WORDS), text_file(*MEMO_WORDS)),
        "language": says("english"),
        "notes.txt": text_file(*MEMO_WORDS, name="notes.txt")}),
    Wishes("make it black and white, then turn it upside down and give me a PDF", "photo.jpg", {
        "black and white": either(picture(is_grey), made("pdf", lambda p: is_grey(_page(p)))),
        "upside down": either(picture(is_upside_down),
                              made("pdf", lambda p: is_upside_down(_page(p)))),
        "pdf": made("pdf", lambda p: is_grey(_page(p)) and is_upside_down(_page(p)))}),
    Wishes("resize the photo to 300 by 300, add a sepia look and save it as old.jpg", "photo.jpg", {
        "resize": picture(lambda i: i.size == (300, 300) or max(i.size) == 300),
        "sepia": picture(_is_sepia),
        "old.jpg": picture(lambda i: max(i.size) == 300 and _is_sepia(i), name="old.jpg")}),
    Wishes("cut out seconds 5 to 15, make it louder, and export as mp3", "song.wav", {
        "cut": either(sound(10), sound(20)),
        "louder": either(sound(10, louder=0.08), sound(20, louder=0.08)),
        "mp3": either(sound(10, suffix="mp3", louder=0.08), sound(20, suffix="mp3", louder=0.08))}),
    Wishes("Read the picture, count the words and tell me the language", "sign.png", {
        "read": says("closed on monday"), "count": says(r"\b6\b"), "language": says("english")}),
    Wishes("take the audio out of clip.mp4, cut it to 2 seconds, save as jingle.mp3", "|clip.mp4", {
        "audio": either(sound(6), sound(2)), "cut": sound(2),
        "jingle.mp3": sound(2, suffix="mp3", name="jingle.mp3")}),
    Wishes("What's 7 times 8, what's the date tomorrow, and roll a dice", "", {
        "7 times 8": says(r"\b56\b"), "date": says(_day(TODAY + timedelta(1))), "dice": says(DIE)}),
    Wishes("set a timer for 20 minutes, tell me the time, and convert 3 pounds into kilos", "", {
        "timer": timer(20), "time": says(CLOCK), "kilos": says(r"1\.36")}),
    Wishes("Summarise the article in one sentence, give me 5 keywords and tell me how many words "
           "it has", "article.txt", {
        "summarise": lambda o: _article_sentences(o.said) >= 1,
        "keywords": says("garden", "harbour|lindon"),
        "words": says(rf"\b{ARTICLE_WORDS}\b")}),
    Wishes("show the average salary per department, draw it as a bar chart and save the chart as "
           "pay.svg", "staff.csv", {
        "average": says(r"32,?250", r"30,?666\.6", r"24,?500"),
        "bar chart": made("png svg jpg"), "pay.svg": made("svg", name="pay.svg")}),
    Wishes("drop the salary column, sort by name and save as people.xlsx", "staff.csv", {
        "drop": table(lambda r: len(r[0]) == 2), "sort": table(lambda r: _in_order(r, "name")),
        "people.xlsx": table(lambda r: len(r[0]) == 2 and _in_order(r, "name"),
                             name="people.xlsx")}),
    Wishes("Remove page 1 of report.pdf, append letter.pdf, and save everything as final.pdf",
           "|report.pdf letter.pdf", {
        "remove": made("pdf", lambda p: pdf(3, hasnt="river")(_only(p))
                       or pdf(4, hasnt="river")(_only(p))),
        "append": pdf(4, has="Susan Miller"),
        "final.pdf": pdf(4, "final.pdf", has="mountains.*Susan Miller")}),
    Wishes("sharpen this picture; afterwards mirror it; and finally I need it as png",
           "photo.jpg", {
        "sharpen": picture(lambda i: i.size == (800, 600)), "mirror": picture(is_mirrored),
        "png": picture(is_mirrored, "png")}),
    Wishes("sort list.txt, remove duplicate lines, and count how many remain", "|list.txt", {
        "sort": shown("apples.*bread.*milk.*pears"),
        "duplicate": shown("apples(?!.*apples).*bread.*milk.*pears"), "count": says(r"\b4\b")}),
    # German
    Wishes("Mach das Bild schwarzweiß und dreh es um 90 Grad", "photo.jpg", {
        "schwarzweiß": picture(is_grey),
        "dreh": picture(lambda i: is_grey(i) and i.size == (600, 800))}),
    Wishes("Was sind 20 Prozent von 150 und wie spät ist es in New York?", "", {
        "20 prozent": says(r"\b30\b"), "wie spät": says(CLOCK)}),
    Wishes("Schreib auf, was in der Aufnahme gesagt wird, und speichere es als protokoll.txt",
           "memo.wav", {
        "schreib": either(says(*MEMO_WORDS), text_file(*MEMO_WORDS)),
        "protokoll.txt": text_file(*MEMO_WORDS, name="protokoll.txt")}),
    Wishes("Ersetze Montag durch Freitag in notizen.txt und zähle die Wörter", "|notizen.txt", {
        "ersetze": shown("Freitag Anna"), "zähle": says(r"\b7\b|sieben")}),
    Wishes("Nimm die ersten zwei Seiten aus bericht.pdf und mach daraus ein Word-Dokument",
           "|bericht.pdf", {
        "seiten": either(pdf(2, hasnt="desert"), document("mountains")),
        "word": document("river", "mountains")}),
    Wishes("Welche Stadt hat den höchsten Umsatz? Zeichne danach ein Balkendiagramm.",
           "umsatz.csv", {
        "welche stadt": says("Köln"), "balkendiagramm": picture(lambda i: i.width > 200)}),
]  # fmt: skip

second = [
    Wishes("how many pages does report.pdf have, and how many words?", "|report.pdf", {
        "pages": says(r"\b(4|four)\b"), "words": says(r"\b23\b")}),
    Wishes("glue report.pdf and letter.pdf together, then tell me the number of pages",
           "|report.pdf letter.pdf", {"glue": pdf(5), "number of pages": says(r"\b(5|five)\b")}),
    Wishes("make a grey copy of second.png, and a png of photo.jpg", "|second.png photo.jpg", {
        "grey": picture(lambda i: i.size == (400, 300) and is_grey(i)),
        "png": picture(lambda i: i.size == (800, 600) and not is_grey(i), "png")}),
    Wishes("Could you mirror this photo, put a bit of blur on it and finally store it as "
           "soft.webp?", "photo.jpg", {
        "mirror": picture(is_mirrored), "blur": picture(_is_blurred),
        "soft.webp": picture(lambda i: is_mirrored(i) and _is_blurred(i), "webp", "soft.webp")}),
    Wishes("convert memo.wav to flac and tell me how long it is", "|memo.wav", {
        "flac": sound(5.5, 2.5, "flac"), "how long": says(r"\b[4-7]([.,]\d+)? s|0:0\d")}),
    Wishes("slow the song down to half speed and store it as slow.mp3", "song.wav", {
        "slow": sound(60, 1), "slow.mp3": sound(60, 1, "mp3", "slow.mp3")}),
    Wishes("mute the clip and then cut it to the first 2 seconds", "clip.mp4", {
        "mute": film(lambda s, has_sound: not has_sound),
        "cut": film(lambda s, has_sound: 1.4 < s < 2.3 and not has_sound)}),
    Wishes("take a picture from second 4 of the film and enlarge it to 640 pixels wide",
           "clip.mp4", {
        "picture": picture(lambda i: 70 < mean(i, 0, 0, 1, 1)[0] < 90),
        "enlarge": picture(lambda i: i.size == (640, 480))}),
    Wishes("Pull the text out of letter.pdf and list the names mentioned in it", "|letter.pdf", {
        "text": shown("wonderful evening"), "names": says("Susan Miller|Brown")}),
    Wishes("turn this upside down and email it to Bob", "photo.jpg", {
        "upside down": picture(is_upside_down), "email": named}),
    Wishes("count the words in article.txt and tell me which language it is", "|article.txt", {
        "count": says(rf"\b{ARTICLE_WORDS}\b"), "language": says("english")}),
    Wishes("summarize article.txt in 2 sentences and save the summary as short.txt",
           "|article.txt", {
        "summarize": made("txt", lambda p: 1 <= _article_sentences(p.read_text()) <= 2),
        "short.txt": made("txt", lambda p: 1 <= _article_sentences(p.read_text()) <= 2,
                          "short.txt")}),
    Wishes("what are the totals by product, and which month was the best?", "sales.csv", {
        "totals": says("345", "730", "955"), "month": says("February|2024-02")}),
    Wishes("keep only the rows for Rome and save them as rome.csv", "sales.csv", {
        "rows": table(lambda r: column(r, "city") == ["Rome"] * 3),
        "rome.csv": table(lambda r: column(r, "city") == ["Rome"] * 3, name="rome.csv")}),
    Wishes("plot amount over time as a line chart; I also want to know the highest amount",
           "sales.csv", {
        "plot": picture(lambda i: i.width > 200), "highest": says(r"\b505\b")}),
    Wishes("convert staff.csv to json, and tell me how many rows there are", "|staff.csv", {
        "json": table(lambda r: len(r) == 7, "json"), "rows": says(r"\b(6|six)\b")}),
    Wishes("add a total row and convert the table to Excel", "sales.csv", {
        "total": table(lambda r: "2030" in "".join(r[-1])),
        "excel": table(lambda r: "2030" in "".join(r[-1]), "xlsx")}),
    Wishes("reverse the lines of list.txt and change them to capital letters", "|list.txt", {
        "reverse": shown("(?i)milk.*bread.*pears"), "capital": shown("MILK.*BREAD.*PEARS")}),
    Wishes("what is 12 squared, and what's the square root of 81?", "", {
        "squared": says(r"\b144\b"), "root": says(r"\b9\b")}),
    Wishes("set one timer for 3 minutes for tea and another for 8 minutes for eggs", "", {
        "tea": timer(3), "eggs": timer(8)}),
    Wishes("How many days is it until New Year's Eve? And what time is it in Sydney right now?",
           "", {
        "days": says(rf"\b{(date(TODAY.year, 12, 31) - TODAY).days}\b"), "time": says(CLOCK)}),
    Wishes("flip a coin and pick a number between 1 and 6", "", {
        "coin": says(COIN), "number": says(DIE)}),
    Wishes("convert 200 grams to ounces, then tell me today's date", "", {
        "grams": says(r"7\.0"), "date": says(_day(TODAY))}),
    Wishes("Write the words SOLD OUT on the photo in red and save it as poster.png", "photo.jpg", {
        "write": picture(_has_red_writing),
        "poster.png": picture(_has_red_writing, name="poster.png")}),
    Wishes("read the sign, turn that into upper case and save it as sign.txt", "sign.png", {
        "read": shown("(?i)closed on monday"), "upper case": shown("CLOSED ON MONDAY"),
        "sign.txt": text_file("CLOSED ON MONDAY", name="sign.txt")}),
    Wishes("crop the picture to a square, shrink it to 200 pixels and turn it into an icon",
           "photo.jpg", {
        "crop": picture(lambda i: i.width == i.height, PICTURES + " ico"),
        "shrink": picture(lambda i: i.width <= 256, PICTURES + " ico"),
        "icon": picture(lambda i: i.width == i.height, "ico")}),
    Wishes("Get the sound of clip.mp4, boost the volume, and what's the length of it?",
           "|clip.mp4", {
        "sound": sound(6), "volume": sound(6, louder=0.08), "length": says(r"\b6([.,]0)? s|0:06")}),
    Wishes("Mach die Aufnahme lauter und wandle sie in mp3 um", "song.wav", {
        "lauter": sound(30, louder=0.08), "mp3": sound(30, suffix="mp3", louder=0.08)}),
    Wishes("Lies den Text im Bild vor und sag mir, in welcher Sprache er ist", "sign.png", {
        "text": says("closed on monday"), "sprache": says("englisch|english")}),
    Wishes("Sortiere die Liste alphabetisch und speichere sie als sortiert.txt", "list.txt", {
        "sortiere": shown("apples.*bread.*milk.*pears"),
        "sortiert.txt": text_file("apples.*bread.*milk.*pears", name="sortiert.txt")}),
]  # fmt: skip


third = [
    Wishes("Could you please rotate this photo to the left and save a copy called sideways.jpg",
           "photo.jpg", {
        "rotate": picture(_is_turned_left),
        "sideways.jpg": picture(_is_turned_left, name="sideways.jpg")}),
    Wishes("turn photo.jpg into a pencil drawing and shrink it by half", "|photo.jpg", {
        "pencil": picture(is_grey), "shrink": picture(lambda i: i.size == (400, 300))}),
    Wishes("invert the colours, and then tell me how big the file is", "photo.jpg", {
        "invert": picture(lambda i: mean(i, 0.5, 0, 1, 0.4).sum() < 250),
        "how big": says(r"\d ?(kB|bytes|MB)")}),
    Wishes("make second.png darker and also convert photo.jpg to bmp", "|second.png photo.jpg", {
        "darker": picture(lambda i: i.size == (400, 300) and mean(i, 0, 0, 1, 1).sum() < 290),
        "bmp": picture(lambda i: i.size == (800, 600), "bmp")}),
    Wishes("What does this sign say? Please also translate it into Spanish.", "sign.png", {
        "sign": says("closed on monday"), "translate": named}),
    Wishes("reverse the song and save it as backwards.ogg", "song.wav", {
        "reverse": sound(30), "backwards.ogg": sound(30, suffix="ogg", name="backwards.ogg")}),
    Wishes("what's the length of song.wav, and how loud is it?", "|song.wav", {
        "length": says(r"\b30 s"), "loud": says(r"-?\d+(\.\d)? dB")}),
    Wishes("split the recording into two halves and make them mp3", "song.wav", {
        "split": sound(15), "mp3": sound(15, suffix="mp3")}),
    Wishes("speed this memo up by 50 percent and then transcribe it", "memo.wav", {
        "speed": sound(3.5, 0.8), "transcribe": says("meeting starts", "report")}),
    Wishes("Type out the memo. Then tell me what the key words are.", "memo.wav", {
        "type out": says(*MEMO_WORDS), "key words": says("key words")}),
    Wishes("cut the clip from second 1 to second 4 and remove the sound", "clip.mp4", {
        "cut": film(lambda s, has_sound: 2.4 < s < 3.4),
        "sound": film(lambda s, has_sound: 2.4 < s < 3.4 and not has_sound)}),
    Wishes("make a gif of the clip, and also give me its sound as an mp3", "clip.mp4", {
        "gif": made("gif"), "mp3": sound(6, suffix="mp3")}),
    Wishes("first merge report.pdf with letter.pdf, then take out page 1",
           "|report.pdf letter.pdf", {
        "merge": either(pdf(5), pdf(4, has="Miller"), pdf(1)),
        "page 1": either(pdf(4, has="Miller", hasnt="river"), pdf(1, has="river"))}),
    Wishes("Convert letter.pdf to text and find all the dates in it", "|letter.pdf", {
        "text": shown("wonderful evening"), "dates": says("12 March 2024")}),
    Wishes("how many characters does article.txt have, and what are the three most important "
           "words?", "|article.txt", {
        "characters": says(rf"\b{len(ARTICLE.strip())}\b"),
        "words": says("garden|harbour|quays")}),
    Wishes("Sort staff.csv by name and then show me the first three rows", "|staff.csv", {
        "sort": either(table(lambda r: _in_order(r, "name")), says("Adams.*\n?.*Baker")),
        "first three": says("Adams", "Baker", "Clark")}),
    Wishes("how much did each product make in total, and draw that as a pie chart", "sales.csv", {
        "total": says("955", "730", "345"), "pie": picture(lambda i: i.width > 200)}),
    Wishes("filter the table to amounts over 200 and give me the average of those", "sales.csv", {
        "filter": table(lambda r: len(r) == 5), "average": says(r"376\.25")}),
    Wishes("rename the column salary to pay and save it as staff2.csv", "staff.csv", {
        "rename": table(lambda r: "pay" in r[0]),
        "staff2.csv": table(lambda r: "pay" in r[0], name="staff2.csv")}),
    Wishes("number the lines in list.txt then save that as numbered.txt", "|list.txt", {
        "number": text_file(r"1\W+pears"),
        "numbered.txt": text_file(r"1\W+pears", name="numbered.txt")}),
    Wishes("what day is it today and how long until Christmas?", "", {
        "day": says(f"{TODAY:%A}"),
        "christmas": says(rf"\b{(date(TODAY.year, 12, 25) - TODAY).days}\b|week")}),
    Wishes("What is 250 divided by 8, and what's that times 3?", "", {
        "divided": says(r"31\.25"), "times 3": says(r"93\.75")}),
    Wishes("Convert 180 cm to feet and also tell me what 10 kg is in pounds", "", {
        "feet": says(r"5\.9"), "pounds": says(r"22\.0")}),
    Wishes("Set a timer for half an hour and let me know what time that'll be", "", {
        "timer": timer(30), "what time": says(CLOCK)}),
    Wishes("toss a coin twice, and pick a random number up to 10", "", {
        "coin": says("heads|tails"), "number": says(r"\b([1-9]|10)\b")}),
    Wishes("take page 3 of report.pdf, turn it into a jpg and make it black and white",
           "|report.pdf", {
        "page 3": either(pdf(1, has="desert"), picture(lambda i: i.height > i.width)),
        "jpg": picture(lambda i: i.height > i.width, "jpg jpeg"),
        "black and white": picture(lambda i: i.height > i.width and is_grey(i), "jpg jpeg")}),
    Wishes("Show me the total amount per month, plot it and save the picture as months.png",
           "sales.csv", {
        "total": says("430", "1,?050", "550"), "plot": picture(lambda i: i.width > 200),
        "months.png": picture(lambda i: i.width > 200, name="months.png")}),
    Wishes("crop the photo to the left half, make it sepia, and then tell me its size",
           "photo.jpg", {
        "crop": picture(lambda i: i.size == (400, 600)),
        "sepia": picture(lambda i: i.size == (400, 600) and _is_sepia(i)),
        "size": says(r"\b400\D{1,30}600")}),
    Wishes("list the names in letter.txt, count the words and tell me the mood", "|letter.txt", {
        "names": says("Susan Miller"), "count": says(rf"\b{len(LETTER.split())}\b"),
        "mood": says("positive")}),
    Wishes("Konvertiere das Bild in PNG und mach es kleiner", "photo.jpg", {
        "png": made("png"), "kleiner": picture(lambda i: i.width < 800, "png")}),
    Wishes("Wie lang ist die Aufnahme und was wird darin gesagt?", "memo.wav", {
        "wie lang": says(r"\b[4-7]([.,]\d+)? [Ss]"), "gesagt": says(*MEMO_WORDS)}),
    Wishes("Fasse den Artikel in zwei Sätzen zusammen und zähle die Wörter", "article.txt", {
        "fasse": lambda o: 1 <= _article_sentences(o.said) <= 2,
        "zähle": says(rf"\b{ARTICLE_WORDS}\b")}),
    Wishes("Stell einen Timer auf 10 Minuten und wirf eine Münze", "", {
        "timer": timer(10), "münze": says("heads|tails|kopf|zahl")}),
]  # fmt: skip
