"""More requests of two and three wishes, about Word, Markdown and Excel files as well.

The fourth set was written before any code of the planner was read, the fifth when the fourth was
answered, and the sixth when the fifth was. The seventh, about videos, differences and JSON too, was
written before any code was read as well. When they were first run, 58 of 91, 46 of 67, 36 of 45 and
24 of 52 wishes were right, and 18, 11, 2 and 13 were wrong or lost without a word; 8, 4, 3 and 3
are for what nothing here does.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.wish_cases import (
    CLOCK,
    DIE,
    MEMO_WORDS,
    TODAY,
    Check,
    Outcome,
    Wishes,
    _day,
    _has_red_writing,
    _in_order,
    _is_blurred,
    _turned,
    column,
    document,
    either,
    film,
    heard,
    is_grey,
    is_mirrored,
    made,
    mean,
    named,
    pdf,
    picture,
    says,
    shown,
    sound,
    table,
    text_file,
    timer,
)

MINUTES = """The council met on 4 June 2025 in Bristol. Helen Carter opened the meeting.
The new bridge will cost two million pounds. Work on it begins in September.
Martin Doyle asked about the noise at night. The council will build a wall beside the road.
"""
MINUTES_WORDS = len(MINUTES.split())
README = """# Bread at home

Mix **flour**, water and salt. Let the dough rest for an hour.

- Bake it for 40 minutes
- Let it cool
"""
DRAFT = """The summer fair takes place on the green. Tickets cost six pounds.
Seventy stalls are expected. Dogs are welcome.
"""
FINAL = """The summer fair takes place on the green. Tickets cost six pounds.
Eighty stalls are expected. Dogs are welcome. There is free parking behind the school.
"""
FINAL_WORDS = len(FINAL.split())
ORDERS = [
    {"customer": "Dean", "item": "Desk", "paid": 120}, {"customer": "Archer", "item": "Pen",
     "paid": 12}, {"customer": "Cole", "item": "Cable", "paid": 20},
    {"customer": "Bell", "item": "Bag", "paid": 80},
]  # fmt: skip
FILMS = "mp4 mov mkv webm gif avi"
BUDGET = (
    ("Item", "Category", "Cost"), ("Rent", "Home", 900), ("Power", "Home", 75),
    ("Groceries", "Food", 320), ("Bus pass", "Travel", 60), ("Cinema", "Fun", 25),
)  # fmt: skip


def write_more_files(folder: Path) -> None:
    """Write the files that are not in `wish_cases.py`."""
    import docx
    import openpyxl

    (folder / "readme.md").write_text(README, encoding="utf-8")
    written = docx.Document()
    for line in MINUTES.splitlines():
        written.add_paragraph(line)
    written.save(str(folder / "minutes.docx"))
    book = openpyxl.Workbook()
    for row in BUDGET:
        book.active.append(row)
    book.save(folder / "budget.xlsx")
    (folder / "draft.txt").write_text(DRAFT, encoding="utf-8")
    (folder / "final.txt").write_text(FINAL, encoding="utf-8")
    (folder / "orders.json").write_text(json.dumps(ORDERS), encoding="utf-8")
    _write_trip(folder / "trip.mp4")


def _write_trip(to: Path) -> None:
    """Write a film in colours, of four seconds, 320 × 180, with sound: a blue sky and a green."""
    import av

    pixels = np.zeros((180, 320, 3), np.uint8)
    pixels[:90], pixels[90:] = (150, 200, 250), (30, 90, 40)
    time = np.arange(4 * 16_000) / 16_000
    tone = (3000 * np.sin(2 * np.pi * 330 * time)).astype(np.int16)
    with av.open(str(to), "w") as container:
        stream: Any = container.add_stream("mpeg4", rate=25)
        stream.width, stream.height, stream.pix_fmt = 320, 180, "yuv420p"
        track: Any = container.add_stream("aac", rate=16_000, layout="mono")
        for number in range(100):
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, 25)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
        heard = av.AudioFrame.from_ndarray(tone[None], format="s16", layout="mono")
        heard.sample_rate = 16_000
        container.mux(track.encode(heard))
        container.mux(track.encode(None))


def at_clock(hour: int, minute: int = 0) -> Check:
    """Whether a timer was set to this time of the day."""

    def passes(outcome: Outcome) -> bool:
        now = datetime.now()
        due = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
        left = ((due - now) % timedelta(days=1)).total_seconds() / 60
        return any(abs(each % 1440 - left) < 2 for each in outcome.timers)

    return passes


def _loudness(path: Path, first: float, last: float) -> float:
    """The loudness of a sound between two places, as shares of its length."""
    samples, _ = heard(path)
    part = samples[int(first * len(samples)) : max(1, int(last * len(samples)))]
    return float(np.sqrt(np.mean(part**2)))


def _fades(path: Path) -> bool:
    return _loudness(path, 0.985, 1) < 0.5 * _loudness(path, 0.3, 0.6)


def _of(suffix: str, *checks: Callable[[Path], bool]) -> Check:
    return made(suffix, lambda path: all(check(path) for check in checks))


WAVES = "wav mp3 ogg flac m4a"
EVE = f"{TODAY.replace(month=12, day=25):%A}"

fourth = [
    # Pictures
    Wishes("make this picture smaller, say 400 pixels wide, and save it as a webp", "photo.jpg", {
        "smaller": picture(lambda i: i.width == 400),
        "webp": picture(lambda i: i.width == 400, "webp")}),
    Wishes("can you flip the photo horizontally and turn it into black and white please",
           "photo.jpg", {"flip": picture(is_mirrored), "black and white": picture(is_grey)}),
    Wishes("rotate second.png by 90 degrees and put both pictures into one pdf",
           "|second.png photo.jpg", {
        "rotate": either(picture(lambda i: i.size == (300, 400)), pdf(2)), "pdf": pdf(2)}),
    Wishes("I need photo.jpg as a png, and could you also blur it a bit?", "|photo.jpg", {
        "png": made("png"), "blur": picture(_is_blurred)}),
    Wishes("how many pixels does this image have and what is written on it?", "sign.png", {
        "pixels": either(says(r"900\D{1,30}220"), says("198,?000")),
        "written": says("closed on monday")}),
    Wishes("read what's written on sign.png and then count the words", "|sign.png", {
        "read": says("closed on monday"), "count": says(r"\b6\b|\bsix\b")}),
    Wishes("crop this to 300 by 300 from the centre, after that make it a jpg", "second.png", {
        "crop": picture(lambda i: i.size == (300, 300)),
        "jpg": picture(lambda i: i.size == (300, 300), "jpg jpeg")}),
    Wishes("Mach das Foto schwarzweiß und verkleinere es auf die Hälfte", "photo.jpg", {
        "schwarzweiß": picture(is_grey), "hälfte": picture(lambda i: i.size == (400, 300))}),
    # Recordings
    Wishes("cut the first 10 seconds off song.wav and fade it out at the end", "|song.wav", {
        "cut": sound(20), "fade": _of(WAVES, _fades)}),
    Wishes("trim the recording to the first 5 seconds and give it to me as an mp3", "song.wav", {
        "trim": sound(5), "mp3": sound(5, suffix="mp3")}),
    Wishes("transcribe this and put the text into a Word file called memo.docx", "memo.wav", {
        "transcribe": either(says(*MEMO_WORDS), document(*MEMO_WORDS)),
        "word": document(*MEMO_WORDS, name="memo.docx")}),
    Wishes("what's being said in the recording? And make it twice as fast, please", "memo.wav", {
        "said": says(*MEMO_WORDS), "fast": sound(2.6, 0.8)}),
    Wishes("Join song.wav and memo.wav together, then convert the result to ogg",
           "|song.wav memo.wav", {
        "join": sound(35.2, 1.2), "ogg": sound(35.2, 1.2, suffix="ogg")}),
    Wishes("make it quieter and then play it backwards", "song.wav", {
        "quieter": _of(WAVES, lambda p: _loudness(p, 0, 1) < 0.06), "backwards": sound(30)}),
    Wishes("Kürze die Aufnahme auf 10 Sekunden und speichere sie als kurz.mp3", "song.wav", {
        "kürze": sound(10), "kurz.mp3": sound(10, suffix="mp3", name="kurz.mp3")}),
    # Films
    Wishes("take the audio out of clip.mp4 as mp3 and tell me how long the film is", "|clip.mp4", {
        "audio": sound(6, suffix="mp3"), "long": says(r"\b6([.,]0)? s|0:06")}),
    Wishes("mute this clip and then turn it into a gif", "clip.mp4", {
        "mute": film(lambda s, has_sound: not has_sound), "gif": made("gif")}),
    Wishes("grab a picture from second 2 of the video and make it black and white", "clip.mp4", {
        "picture": picture(lambda i: i.width > 10, "png jpg jpeg"),
        "black and white": picture(is_grey, "png jpg jpeg")}),
    # PDF, Word and Markdown
    Wishes("pull pages 2 and 3 out of report.pdf, then tell me how many words are on them",
           "|report.pdf", {
        "pages": pdf(2, has="mountains.*desert"), "words": says(r"\b11\b")}),
    Wishes("delete the last page of the pdf and rotate the first one", "report.pdf", {
        "delete": pdf(3, hasnt="sea"), "rotate": _of("pdf", lambda p: _turned(p) == [0])}),
    Wishes("put letter.pdf in front of report.pdf and save it all as together.pdf",
           "|report.pdf letter.pdf", {
        "front": pdf(5, has="Miller.*river"), "together.pdf": pdf(5, name="together.pdf")}),
    Wishes("turn this pdf into a Word document, also summarise it", "letter.pdf", {
        "word": document("wonderful evening"), "summarise": says("evening|dinner")}),
    Wishes("split report.pdf into single pages and email them to my boss", "|report.pdf", {
        "split": pdf(1, has="desert"), "email": named}),
    Wishes("Wie viele Seiten hat das PDF, und was steht auf Seite 2?", "bericht.pdf", {
        "seiten": says(r"\b(4|vier|four)\b"), "steht": says("mountains")}),
    Wishes("convert minutes.docx to pdf and to plain text", "|minutes.docx", {
        "pdf": pdf(1, has="bridge"), "text": shown("Martin Doyle")}),
    Wishes("How many words are in minutes.docx? Who is mentioned in it?", "|minutes.docx", {
        "words": says(rf"\b{MINUTES_WORDS}\b"), "mentioned": says("Helen Carter", "Martin Doyle")}),
    Wishes("turn readme.md into html, and then into a pdf as well", "|readme.md", {
        "html": text_file("<h1.*Bread at home", suffix="html htm"), "pdf": pdf(1, has="dough")}),
    Wishes("replace Monday with Friday in notes.txt and save it as friday.txt", "|notes.txt", {
        "replace": shown("Call Anna on Friday"),
        "friday.txt": text_file("Friday", name="friday.txt", without="Monday")}),
    # Tables
    Wishes("in budget.xlsx, what's the biggest expense and what do all of them add up to?",
           "|budget.xlsx", {"biggest": says("Rent|900"), "add up": says("1,?380")}),
    Wishes("sort the sheet by price, drop the duplicates, and save it as clean.xlsx", "dupes.csv", {
        "sort": table(lambda r: _in_order(r, "price"), "csv xlsx"),
        "drop": table(lambda r: len(r) == 5, "csv xlsx"),
        "clean.xlsx": table(lambda r: _in_order(r, "price") and len(r) == 5, name="clean.xlsx")}),
    Wishes("keep only the rows from Oslo and export them as json", "sales.csv", {
        "keep": table(lambda r: {*column(r, "city")} == {"Oslo"} and len(r) == 4),
        "json": table(lambda r: {*column(r, "city")} == {"Oslo"}, "json")}),
    Wishes("draw a bar chart of the salary per name and put it in a pdf", "staff.csv", {
        "chart": either(picture(lambda i: i.width > 200), made("pdf svg")), "pdf": pdf(1)}),
    Wishes("who earns the most? who earns the least?", "staff.csv", {
        "most": says("Parker"), "least": says("Clark")}),
    # Texts
    Wishes("translate this into English and tell me which words matter most", "german.txt", {
        "translate": named, "words": says("Bauern|Sommer|Regen|Ernte|Felder|Flüsse")}),
    Wishes("read the letter to me and make a list of the people in it", "letter.txt", {
        "read": either(made(WAVES), says("wonderful evening")), "people": says("Susan Miller")}),
    # Every day
    Wishes("set a timer for 20 minutes, and remind me at 6 pm to call mum", "", {
        "timer": timer(20), "remind": at_clock(18)}),
    Wishes("what's 15 percent of 80, plus how many ml are in a pint", "", {
        "percent": says(r"\b12\b"), "pint": says(r"\b(568|473)")}),
    Wishes("Hey, what day of the week is Christmas this year and how many days are left till then",
           "", {
        "week": says(EVE),
        "left": says(rf"\b{(TODAY.replace(month=12, day=25) - TODAY).days}\b")}),
    Wishes("roll a dice, then book me a table at Luigi's for tonight", "", {
        "dice": says(DIE), "table": named}),
    Wishes("remember that my locker code is 4711 and order a pizza", "", {
        "remember": says("4711"), "pizza": named}),
    Wishes("what's the date, and any news?", "", {"date": says(_day(TODAY)), "news": named}),
    Wishes("how much is 50 dollars in euros and what is 50 miles in km", "", {
        "dollars": named, "miles": says(r"80\.4")}),
    Wishes("send this photo to my sister and make a copy as png", "photo.jpg", {
        "sister": named, "png": made("png")}),
    Wishes("wie spät ist es in Tokio und wie viel sind 5 Meilen in Kilometern?", "", {
        "spät": says(CLOCK), "meilen": says(r"8[.,]0")}),
    Wishes("turn down the lights, and set an alarm for 7 am", "", {
        "lights": named, "alarm": at_clock(7)}),
]  # fmt: skip


fifth = [
    Wishes("Please convert this photo into a pdf and tell me how many pixels it has", "photo.jpg", {
        "pdf": pdf(1), "pixels": either(says(r"800\D{1,30}600"), says("480,?000"))}),
    Wishes("mirror the image, add the text SUMMER 24 at the bottom, then save it as summer.jpg",
           "photo.jpg", {
        "mirror": picture(lambda i: is_mirrored(i)),
        "text": picture(lambda i: float(np.asarray(i.crop((0, 450, 800, 600))).std()) > 25),
        "summer.jpg": picture(is_mirrored, name="summer.jpg")}),
    Wishes("brighten second.png a little and make photo.jpg greyscale", "|second.png photo.jpg", {
        "brighten": picture(lambda i: i.size == (400, 300) and mean(i, 0, 0, 1, 1).sum() > 320),
        "greyscale": picture(lambda i: i.size == (800, 600) and is_grey(i))}),
    Wishes("read the text in this picture aloud, and also save it to a file called sign.txt",
           "sign.png", {
        "read": either(made(WAVES), says("closed on monday")),
        "sign.txt": text_file("(?i)closed on monday", name="sign.txt")}),
    Wishes("scale it down to 50% and then compress it to under 100 kb", "photo.jpg", {
        "scale": picture(lambda i: i.size == (400, 300)),
        "compress": _of("jpg jpeg png webp", lambda p: p.stat().st_size < 100_000)}),
    Wishes("turn the picture 180 degrees and send it to the printer", "photo.jpg", {
        "turn": picture(lambda i: mean(i, 0.5, 0.6, 1, 1).sum() > mean(i, 0.5, 0, 1, 0.4).sum()),
        "printer": named}),
    Wishes("Schneide das Bild quadratisch zu und speichere es als quadrat.png", "photo.jpg", {
        "schneide": picture(lambda i: i.width == i.height),
        "quadrat.png": picture(lambda i: i.width == i.height, name="quadrat.png")}),
    Wishes("I'd like song.wav as an mp3 and as an ogg file", "|song.wav", {
        "mp3": sound(30, suffix="mp3"), "ogg": sound(30, suffix="ogg")}),
    Wishes("cut out the part from 0:05 to 0:12 of song.wav and then tell me how long it is",
           "|song.wav", {"cut": sound(7), "long": says(r"\b7 s|\b7([.,]0)? seconds")}),
    Wishes("write down what she says and count the words", "memo.wav", {
        "write": says(*MEMO_WORDS), "count": says(r"\b1[3-6]\b")}),
    Wishes("normalise the volume of the recording and after that split it into 10 second pieces",
           "song.wav", {
        "normalise": sound(10, louder=0.08), "split": sound(10)}),
    Wishes("slow this down to half speed, and make an mp3 of it", "song.wav", {
        "slow": sound(60, 1.5), "mp3": sound(60, 1.5, suffix="mp3")}),
    Wishes("Verschriftliche die Aufnahme und sag mir, wie lang sie ist", "memo.wav", {
        "verschriftliche": says(*MEMO_WORDS), "lang": says(r"\b[4-7]([.,]\d+)? [Ss]")}),
    Wishes("how long is clip.mp4, what's its resolution, and can you make a gif out of it",
           "|clip.mp4", {
        "long": says(r"\b6([.,]0)? s|0:06"), "resolution": says(r"\d+ ?(x|×|by) ?\d+"),
        "gif": made("gif")}),
    Wishes("keep only the first 3 seconds of the video and strip the audio", "clip.mp4", {
        "keep": film(lambda s, has_sound: s < 3.6),
        "strip": film(lambda s, has_sound: s < 3.6 and not has_sound)}),
    Wishes("extract the first page of report.pdf as a png and then turn it sideways",
           "|report.pdf", {
        "extract": picture(lambda i: True, "png"),
        "sideways": picture(lambda i: i.width > i.height, "png")}),
    Wishes("swap nothing, just tell me how many pages report.pdf has and who wrote letter.pdf",
           "|report.pdf letter.pdf", {
        "pages": says(r"\b4\b|\bfour\b"), "wrote": says("Susan Miller")}),
    Wishes("remove page 2 and save the rest as short.pdf, please", "report.pdf", {
        "remove": pdf(3, hasnt="mountains"), "short.pdf": pdf(3, name="short.pdf")}),
    Wishes("make the Word document a PDF and give me its key words", "minutes.docx", {
        "pdf": pdf(1, has="bridge"), "key words": says("bridge|council|noise|road")}),
    Wishes("what dates are mentioned in minutes.docx, and what does it say about the bridge?",
           "|minutes.docx", {"dates": says("4 June 2025"), "bridge": says("two million")}),
    Wishes("read readme.md, list its headings, and convert it to docx", "|readme.md", {
        "headings": says("Bread at home"), "docx": document("dough")}),
    Wishes("sort list.txt alphabetically, remove doubles, and tell me how many lines are left",
           "|list.txt", {
        "sort": shown("apples.*bread.*milk.*pears"), "remove": shown("apples\nbread"),
        "lines": says(r"\b4\b|\bfour\b")}),
    Wishes("find the cheapest item, and what do they cost on average?", "dupes.csv", {
        "cheapest": says("Pen"), "average": says(r"7\.5\b|7\.50")}),
    Wishes("Which city sold the most? Put the answer into a text file called best.txt",
           "sales.csv", {
        "sold": says("Rome"), "best.txt": text_file("Rome", name="best.txt")}),
    Wishes("delete the salary column and export the rest to Excel", "staff.csv", {
        "delete": table(lambda r: len(r[0]) == 2),
        "excel": table(lambda r: len(r[0]) == 2, "xlsx")}),
    Wishes("set an alarm for 6:30 and tell me how many hours that is from now", "", {
        "alarm": at_clock(6, 30), "hours": says(r"\bhours?\b")}),
    Wishes("wake me in 45 minutes, and also what's 17 times 23?", "", {
        "wake": timer(45), "times": says(r"\b391\b")}),
    Wishes("how many ounces in 2 pounds and is it going to rain tomorrow?", "", {
        "ounces": says(r"\b32\b"), "rain": named}),
    Wishes("play some jazz and spell the word necessary", "", {
        "jazz": named, "spell": says("n.{1,3}e.{1,3}c.{1,3}e.{1,3}s.{1,3}s", )}),
    Wishes("Remember that Tom's birthday is on 3 May. How many days is it until then?", "", {
        "remember": says("3 May"), "days": says(r"\b\d{1,3} days")}),
    Wishes("call mum and remind me in an hour to water the plants", "", {
        "mum": named, "remind": timer(60)}),
    Wishes("Wie viel ist 15 % von 260, und welcher Tag ist heute?", "", {
        "prozent": says(r"\b39\b"), "tag": says(_day(TODAY) + f"|{TODAY:%A}|Sams|{TODAY:%d}")}),
]  # fmt: skip


sixth = [
    Wishes("shrink photo.jpg to 300 pixels wide and turn it into a webp, please", "|photo.jpg", {
        "shrink": picture(lambda i: i.width == 300),
        "webp": picture(lambda i: i.width == 300, "webp")}),
    Wishes("what does it say on this sign, and which language is that?", "sign.png", {
        "say": says("closed on monday"), "language": says("english")}),
    Wishes("make both pictures black and white and put them in a single PDF",
           "photo.jpg second.png", {
        "black": either(picture(is_grey), pdf(2)), "pdf": pdf(2)}),
    Wishes("Drehe das Foto nach links und mach es heller", "photo.jpg", {
        "drehe": picture(lambda i: i.size == (600, 800)),
        "heller": picture(lambda i: i.size == (600, 800))}),
    Wishes("get rid of the first 3 seconds of song.wav, then make it louder and save it as b.flac",
           "|song.wav", {
        "seconds": sound(27), "louder": sound(27, louder=0.08),
        "b.flac": sound(27, suffix="flac", name="b.flac")}),
    Wishes("transcribe the memo and give me the three most important words", "memo.wav", {
        "transcribe": says(*MEMO_WORDS), "words": says("report|meeting|pen")}),
    Wishes("reverse the recording; after that, how loud is it?", "song.wav", {
        "reverse": sound(30), "loud": says(r"-?\d+(\.\d)? dB")}),
    Wishes("I want the sound of this clip as ogg, also a still from the start", "clip.mp4", {
        "sound": sound(6, suffix="ogg"), "still": made("png jpg jpeg")}),
    Wishes("append letter.pdf to report.pdf and then turn the whole thing into a Word file",
           "|report.pdf letter.pdf", {
        "append": either(pdf(5), document("river", "Miller")),
        "word": document("river", "Miller")}),
    Wishes("rotate page 2 of the pdf and drop page 4", "report.pdf", {
        "rotate": _of("pdf", lambda p: _turned(p) == [1]), "drop": pdf(3, hasnt="sea")}),
    Wishes("summarize minutes.docx in one sentence and translate that into French",
           "|minutes.docx", {
        "summarize": says("bridge|council|Bristol|road"), "translate": named}),
    Wishes("convert readme.md to PDF and count its words", "|readme.md", {
        "pdf": pdf(1, has="dough"), "count": says(r"\b\d+ words")}),
    Wishes("Ersetze Montag durch Dienstag in notizen.txt und speichere es als neu.txt",
           "|notizen.txt", {
        "ersetze": shown("Dienstag"), "neu.txt": text_file("Dienstag", name="neu.txt")}),
    Wishes("sort by salary from high to low, then keep only the top 2", "staff.csv", {
        "sort": table(lambda r: column(r, "salary")[0] == "35500"),
        "keep": table(lambda r: len(r) == 3)}),
    Wishes("how many rows does sales.csv have and what is the highest amount?", "|sales.csv", {
        "rows": says(r"\b8\b"), "highest": says(r"\b505\b")}),
    Wishes("plot the amounts by city as a pie and tell me the total", "sales.csv", {
        "plot": picture(lambda i: i.width > 200), "total": says("2,?030")}),
    Wishes("turn budget.xlsx into a csv and show me everything in Food", "|budget.xlsx", {
        "csv": table(lambda r: len(r) == 6, "csv"), "food": says("Groceries|320")}),
    Wishes("what's 2 to the power of 10, and halve that", "", {
        "power": says("1,?024"), "halve": says(r"\b512\b")}),
    Wishes("set a timer for 90 seconds then tell me a random number between 1 and 50", "", {
        "timer": timer(1.5), "number": says(r"\b\d{1,2}\b")}),
    Wishes("what time is it in New York and how's the traffic there", "", {
        "time": says(CLOCK), "traffic": named}),
    Wishes("spell accommodation and tell me what it means", "", {
        "spell": says("a.{1,3}c.{1,3}c.{1,3}o"), "means": named}),
    Wishes("Stell den Wecker auf 7 Uhr und sag mir, welcher Tag morgen ist", "", {
        "wecker": at_clock(7),
        "morgen": says(f"{TODAY + timedelta(days=1):%A}|{(TODAY + timedelta(days=1)).day}")}),
]  # fmt: skip


def _frames(test: Callable[[Any, float, bool], bool], suffix: str = FILMS, name: str = "") -> Check:
    """Whether there is a film, whose first frame, seconds and presence of sound pass the test."""

    def passes(path: Path) -> bool:
        import av

        with av.open(str(path)) as container:
            seconds = (container.duration or 0) / av.time_base
            frame = next(container.decode(video=0))
            return test(frame.to_image(), seconds, bool(container.streams.audio))

    return made(suffix, passes, name)


def _is_louder_later(path: Path) -> bool:
    return _loudness(path, 0, 0.03) < 0.5 * _loudness(path, 0.3, 0.6)


seventh = [
    # Films
    Wishes("get trip.mp4 down to 80 pixels wide, and I want it as a webm", "|trip.mp4", {
        "80 pixels wide": _frames(lambda i, s, has_sound: i.width == 80),
        "webm": _frames(lambda i, s, has_sound: i.width == 80, "webm")}),
    Wishes("This video is lying on its side: turn it clockwise, then take out the colour",
           "trip.mp4", {
        "turn": _frames(lambda i, s, has_sound: i.height > i.width),
        "colour": _frames(lambda i, s, has_sound: i.height > i.width and is_grey(i))}),
    Wishes("Write Lake Trip across the video and hand it back as an mkv", "trip.mp4", {
        "write": _frames(lambda i, s, has_sound: mean(i, 0, 0, 1, 1).size == 3
                         and float(np.asarray(i.convert("L"))[120:].std()) > 15),
        "mkv": _frames(lambda i, s, has_sound: i.width == 320, "mkv")}),
    Wishes("crop trip.mp4 to a square and lose the sound", "|trip.mp4", {
        "crop": _frames(lambda i, s, has_sound: abs(i.width - i.height) <= 2),
        "lose": _frames(lambda i, s, has_sound: abs(i.width - i.height) <= 2 and not has_sound)}),
    Wishes("Verkleinere das Video auf die Hälfte und gib es mir als klein.mov", "trip.mp4", {
        "verkleinere": _frames(lambda i, s, has_sound: i.size == (160, 90)),
        "klein.mov": _frames(lambda i, s, has_sound: i.size == (160, 90), "mov", "klein.mov")}),
    Wishes("upload clip.mp4 to YouTube and make a thumbnail from second 3", "|clip.mp4", {
        "upload youtube": named, "thumbnail": made("png jpg jpeg")}),
    # Texts and documents
    Wishes("what is different in final.txt compared with draft.txt, and how long is final.txt"
           " in words?", "|draft.txt final.txt", {
        "different": says("eighty|80", "parking"), "words": says(rf"\b{FINAL_WORDS}\b")}),
    Wishes("list the changes between these two and put them in a Word document",
           "draft.txt final.txt", {
        "changes": either(says("eighty", "parking"), document("eighty", "parking")),
        "word": document("eighty", "parking")}),
    Wishes("number the lines of list.txt, then make everything upper case", "|list.txt", {
        "number": shown(r"1\W+(?i:pears).*2\W+(?i:apples)"),
        "upper": shown("PEARS.*APPLES.*MILK")}),
    Wishes("is the letter friendly or angry? And which language is german.txt written in?",
           "letter.txt german.txt", {
        "friendly": says("positive|friendly"), "language": says(r"language.*german|is german|"
                                                              r"\bgerman\b(?!\.txt)")}),
    Wishes("get the text of the first two pages as a text file and the other two as a new PDF",
           "report.pdf", {
        "text": text_file("river.*mountains", without="desert"), "pdf": pdf(2, has="desert.*sea")}),
    Wishes("lock report.pdf with a password, and count its pages", "|report.pdf", {
        "lock password": named, "count": says(r"\b4\b|\bfour\b")}),
    Wishes("combine minutes.docx and letter.pdf into a single PDF and say how many pages came out",
           "|minutes.docx letter.pdf", {
        "combine": pdf(2, has="bridge.*evening"), "pages": says(r"\b(2|two) pages|pages\D{1,9}2")}),
    # Pictures
    Wishes("sharpen the picture, put FOR SALE on it in red, and let me have a bmp", "photo.jpg", {
        "sharpen": picture(lambda i: i.size == (800, 600)),
        "red": picture(lambda i: i.size == (800, 600) and _has_red_writing(i)),
        "bmp": picture(_has_red_writing, "bmp")}),
    Wishes("Too dark! Lighten second.png, crop it to 200 by 200 and tell me how big the file"
           " became", "|second.png", {
        "lighten": picture(lambda i: mean(i, 0, 0, 0.1, 0.1).sum() > 310),
        "crop": picture(lambda i: i.size == (200, 200)),
        "big": says(r"\d ?(k?B|bytes|kilobytes)\b")}),
    # Recordings
    Wishes("let song.wav fade in over 4 seconds and hand me a flac", "|song.wav", {
        "fade": _of(WAVES, _is_louder_later), "flac": _of("flac", _is_louder_later)}),
    Wishes("chop the recording into pieces of 15 seconds, all of them mp3", "song.wav", {
        "chop": sound(15), "mp3": sound(15, suffix="mp3")}),
    # Tables
    Wishes("which customers in orders.json paid more than 50? And what did everybody pay together?",
           "|orders.json", {
        "customers": says("Bell", "Dean"), "together": says(r"\b232\b")}),
    Wishes("put orders.json in order by customer and make an Excel file of it", "|orders.json", {
        "order": table(lambda r: _in_order(r, "customer") and len(r) == 5),
        "excel": table(lambda r: _in_order(r, "customer") and len(r) == 5, "xlsx")}),
    Wishes("work out the mean salary for every department, chart it as bars, then store the"
           " figures in means.json", "staff.csv", {
        "mean": either(says(r"32,?250", r"24,?500"), table(lambda r: len(r) == 4)),
        "chart": picture(lambda i: i.width > 200),
        "means.json": table(lambda r: len(r) == 4 and "32250" in str(r), "json", "means.json")}),
    # Every day
    Wishes("How many days lie between 3 March 2025 and 20 June 2025, and what weekday was the"
           " second one?", "", {
        "days": says(r"\b109\b"), "weekday": says("Friday")}),
    Wishes("I need two timers, 4 minutes for the tea and 11 minutes for the pasta", "", {
        "tea": timer(4), "pasta": timer(11)}),
    Wishes("add 19% to 250 and share the result among 5 people", "", {
        "add": says(r"297\.5"), "share": says(r"\b59\.5")}),
    Wishes("Stell mir einen Timer auf eine Viertelstunde, rechne 3 Zoll in Zentimeter um und"
           " schick Peter eine SMS", "", {
        "timer": timer(15), "zoll": says(r"7[.,]62"), "schick peter sms": named}),
]  # fmt: skip
