"""The eighth and ninth sets of requests of two and three wishes, as people type or say them.

Some are misspelt or without punctuation, thirteen are in German. The eighth was written before any
code was read, the ninth when the eighth was answered. When they were first run, 96 of 126 and 32 of
45 wishes were right, and 10 and 7 were wrong or lost without a word; 8 and 2 are for what nothing
here does.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.fresh_wish_cases import (
    FILMS,
    WAVES,
    _fades,
    _frames,
    _loudness,
    _of,
    at_clock,
)
from tests.benchmarks.wish_cases import (
    ARTICLE_WORDS,
    CLOCK,
    COIN,
    DIE,
    MEMO,
    MEMO_WORDS,
    TODAY,
    Check,
    Wishes,
    _article_sentences,
    _has_writing,
    _is_sepia,
    _write_pdf,
    column,
    document,
    either,
    film,
    heard,
    is_grey,
    is_mirrored,
    is_upside_down,
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

WHALES = """The whale is the largest animal of the sea. A whale breathes air like we do.
Sailors feared the whale for its size. Today ships keep their distance.
"""  # whale three times
SPELT = "the flag has one colour\nno colour is left\na grey wall\n"
PLAN_PAGES = ("Introduction of the plan.", "The budget is small. The budget grows.",
              "Next year the budget doubles.", "The end.")  # fmt: skip
CUSTOMERS = """customer,city,notes
Adler,Berlin,new
Brandt,Hamburg,late
Conrad,Berlin,good
Conrad,Berlin,good
"""
PURCHASES = """number,customer,price
1,Adler,20
2,Brandt,35
3,Adler,15
4,Conrad,50
"""  # Berlin: numbers 1, 3 and 4
PRODUCTS = """name,kind,weight,category
Hammer,tool,900,Workshop
Saw,tool,700,Workshop
Pliers,tool,500,
Cup,dish,200,Kitchen
Plate,dish,400,Kitchen
Bowl,dish,350,
Drill,tool,1500,Workshop
Fork,dish,60,Kitchen
"""
INVOICE = "Sehr geehrte Frau Lang, die Rechnung liegt bei. Bitte bezahlen Sie die Rechnung bald.\n"


def write_eighth_files(folder: Path) -> None:
    """Write the files that are not in the other sets."""
    from PIL import Image, ImageDraw, ImageFont

    from tests.films import write_film
    from tests.synthetic_speech import NEURAL, spoken, write

    for name, text in {
        "whales.txt": WHALES,
        "spelt.txt": SPELT,
        "customers.csv": CUSTOMERS,
        "purchases.csv": PURCHASES,
        "products.csv": PRODUCTS,
        "brief.txt": INVOICE,
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    _write_pdf(folder / "plan.pdf", PLAN_PAGES)
    receipt = Image.new("RGB", (700, 420), "white")
    for line, text in enumerate(("CORNER BAKERY", "Bread 4.00", "Cake 16.00", "TOTAL 20.00 EUR")):
        font = ImageFont.load_default(size=40)
        ImageDraw.Draw(receipt).text((60, 40 + 90 * line), text, "black", font)
    receipt.save(folder / "receipt.png")
    write(spoken(MEMO, voice=NEURAL), folder / "speech.wav")
    write_film(folder / "speech.mp4", sound=folder / "speech.wav")
    tone = 0.2 * np.sin(2 * np.pi * 300 * np.arange(2 * 16_000) / 16_000)
    write(np.concatenate([tone, np.zeros(4 * 16_000), tone]), folder / "pauses.wav")
    (folder / "speech.wav").unlink()


def _lasts(factor: float = 1, less: float = 0, suffix: str = WAVES) -> Callable[[Path], bool]:
    """Whether a recording is as long as memo.wav after such a change."""

    def passes(path: Path) -> bool:
        from tests.synthetic_speech import NEURAL, spoken

        samples, rate = heard(path)
        whole = len(spoken(MEMO, voice=NEURAL)) / 16_000
        return abs(len(samples) / rate - whole * factor + less) < 0.4

    return passes


def _louder(path: Path) -> bool:
    from tests.synthetic_speech import NEURAL, spoken

    before = float(np.sqrt(np.mean(spoken(MEMO, voice=NEURAL)[2 * 16_000 :] ** 2)))
    return _loudness(path, 0, 1) > 1.15 * before


def _is_turned_up(path: Path) -> bool:
    return _lasts(less=2)(path) and _louder(path)


def _runs_down(path: Path) -> bool:
    """Whether song.wav, whose notes go up, was reversed."""
    samples, rate = heard(path)

    def hertz(start: float, end: float) -> float:
        part = samples[int(start * rate) : int(end * rate)]
        return float(np.abs(np.fft.rfft(part)).argmax() * rate / len(part))

    return hertz(0.05, 0.3) > hertz(0.72, 0.95) + 10


def _drawn(image: Any) -> bool:
    """Whether a picture is nearly white with darker lines, as a sketch is."""
    return is_grey(image) and bool(np.asarray(image).mean() > 140)


def _has_no(name: str) -> Callable[[list[list[str]]], bool]:
    return lambda rows: name not in [each.lower() for each in rows[0]]


def _filled(rows: list[list[str]]) -> bool:
    kinds = dict(zip(column(rows, "name"), column(rows, "category"), strict=True))
    return len(kinds) == 8 and kinds["Pliers"] == "Workshop" and kinds["Bowl"] == "Kitchen"


def _days(to: date) -> str:
    ahead = to if to >= TODAY else to.replace(year=to.year + 1)
    return rf"\b{(ahead - TODAY).days}\b"


def _three(path: Path) -> bool:
    return path.suffix in {".png", ".jpg", ".jpeg", ".webp"}


def _pictures(number: int) -> Check:
    return lambda outcome: sum(map(_three, outcome.files.values())) >= number


XMAS = date(TODAY.year, 12, 25)
MAY = date(TODAY.year, 5, 4)

eighth = [
    # Pictures
    Wishes("rotate photo.jpg to the left and make it 300 pixels wide", "|photo.jpg", {
        "rotate": picture(lambda i: i.height > i.width and mean(i, 0, 0.1, 0.4, 0.4).sum()
                          > mean(i, 0.6, 0.1, 1, 0.4).sum() + 60),
        "300 pixels wide": picture(lambda i: i.width == 300)}),
    Wishes("crop photo.jpg to a square, then turn it black and white, and save it as square.jpg",
           "|photo.jpg", {
        "square": picture(lambda i: i.width == i.height),
        "black white": picture(lambda i: i.width == i.height and is_grey(i)),
        "save": picture(lambda i: i.width == i.height and is_grey(i), name="square.jpg")}),
    Wishes("what's in this picture and how big is the file?", "photo.jpg", {
        "what's in picture": says(r"colou?r|\bblue\b|\bgreen\b|\bred\b"),
        "how big": says(r"\d+(\.\d+)? ?(kB|KB|MB|bytes)")}),
    Wishes('put "Happy Birthday Oma" on photo.jpg and mirror it', "|photo.jpg", {
        "put": picture(_has_writing), "mirror": picture(is_mirrored)}),
    Wishes("convert the screenshot to jpg and tell me what it says", "sign.png", {
        "jpg": picture(lambda i: i.width > 800, "jpg jpeg"), "says": says("closed on monday")}),
    Wishes("how many faces are in second.png, and cut the thing in the middle of photo.jpg out",
           "second.png photo.jpg", {
        "faces": says(r"\bno\b|\b0\b|none"), "cut": made("png")}),
    Wishes("blur second.png and give photo.jpg a sepia look", "|photo.jpg second.png", {
        "blur": picture(lambda i: i.size == (400, 300)),
        "sepia": picture(lambda i: i.size == (800, 600) and _is_sepia(i))}),
    Wishes("make one pdf out of these three pictures and tell me how many pages it has",
           "photo.jpg second.png sign.png", {
        "pdf": pdf(3), "pages": says(r"\b3\b|three")}),
    # Documents
    Wishes("translate minutes.docx to French and read it aloud", "|minutes.docx", {
        "translate": named, "read aloud": named}),
    Wishes("summarise minutes.docx in two sentences and list who is mentioned in it",
           "minutes.docx", {
        "summarise": says("council|bridge"), "mentioned": says("Carter", "Doyle")}),
    Wishes("pull pages 2 and 3 out of plan.pdf and count how often the word budget appears in"
           " them", "|plan.pdf", {
        "pages": pdf(2, has="budget.*doubles", hasnt="introduction"),
        "count": says(r"occurs 3|\b3 times|three times")}),
    Wishes("merge report.pdf and minutes.docx into one pdf without the first page",
           "|report.pdf minutes.docx", {
        "merge": pdf(4, has="two is.*council"), "without page": pdf(4, hasnt="chapter one")}),
    Wishes("what changed between draft.txt and final.txt, and how similar are they overall?",
           "|draft.txt final.txt", {
        "changed": says("eighty", "parking"), "similar": says(r"\d+ ?%|similar")}),
    Wishes("read me letter.txt and tell me what language it's in", "|letter.txt", {
        "read": either(made(WAVES), says("wonderful evening")), "language": says("English")}),
    Wishes("what's the total on this receipt and what is 19 percent of it", "receipt.png", {
        "total": says(r"20[.,]00|\b20\b"), "percent": says(r"3[.,]80?\b")}),
    Wishes("replace colour with color in spelt.txt, sort the lines and save it as spelt-us.txt",
           "|spelt.txt", {
        "replace": text_file("one color", without="colour"),
        "sort": text_file(r"a grey.*no color.*the flag"),
        "save": text_file(r"a grey.*no color.*the flag", name="spelt-us.txt")}),
    Wishes("how often does whale occur in whales.txt and what are its five most frequent words",
           "|whales.txt", {
        "often": says(r"\b3\b|three|3 times"),
        "frequent": says(r"whale\W+3|whale.*\b3\b.*the|the.*whale")}),
    Wishes("is this review good or bad and which cities does it mention: We loved every evening in"
           " Lisbon, and Porto was a dream.", "", {
        "good bad": says("positive"), "cities": says("Lisbon", "Porto")}),
    Wishes("plese convrt minutes.docx to pdf and sumarize it", "|minutes.docx", {
        "convrt": pdf(1, has="council"), "sumarize": says("bridge|council")}),
    Wishes("pull the key words out of article.txt and save them as keys.txt", "|article.txt", {
        "key words": shown("(?i)garden"), "keys.txt": text_file("(?i)garden", name="keys.txt")}),
    # Sound
    Wishes("cut the first two seconds off memo.wav and turn up the volume", "|memo.wav", {
        "cut": made(WAVES, _lasts(less=2)), "volume": made(WAVES, _is_turned_up)}),
    Wishes("take the silences out of pauses.wav and save it as an mp3 called short",
           "|pauses.wav", {
        "silences": sound(4.3, 0.9), "short": sound(4.3, 0.9, "mp3", "short.mp3")}),
    Wishes("transcribe memo.wav and list the key words", "|memo.wav", {
        "transcribe": shown(*(f"(?i){each}" for each in MEMO_WORDS)), "key words": says("report")}),
    Wishes("how long is this recording and what is said in it", "memo.wav", {
        "long": says(r"\d+([.,:]\d+)? ?(s|sec)|0:0\d"),
        "said": shown(*(f"(?i){each}" for each in MEMO_WORDS))}),
    Wishes("reverse song.wav and make it 1.5 times faster", "|song.wav", {
        "reverse": made(WAVES, _runs_down), "faster": sound(20)}),
    Wishes("join memo.wav and song.wav and let it fade out at the end", "|memo.wav song.wav", {
        "join": made(WAVES, lambda p: _lasts(less=-30)(p)),
        "fade": _of(WAVES, lambda p: _lasts(less=-30)(p), _fades)}),
    Wishes("what kind of music is this and how loud is it", "song.wav", {
        "music sound": named, "loud": says(r"dB")}),
    Wishes("trascribe the recroding and tell me how offten the word report is said", "memo.wav", {
        "trascribe": shown(*(f"(?i){each}" for each in MEMO_WORDS)),
        "offten": says(r"\b1\b|once|one time")}),
    # Films
    Wishes("mute trip.mp4 and make it half the size", "|trip.mp4", {
        "mute": film(lambda s, has_sound: not has_sound, FILMS),
        "half size": _frames(lambda i, s, has_sound: i.size == (160, 90) and not has_sound)}),
    Wishes("take a still from trip.mp4 at second 2 and make a pencil sketch of it", "|trip.mp4", {
        "still": picture(lambda i: i.size == (320, 180)), "sketch": picture(_drawn)}),
    Wishes("trim trip.mp4 to the first 3 seconds, turn it upside down and save it as flipped.mp4",
           "|trip.mp4", {
        "trim": _frames(lambda i, s, has_sound: abs(s - 3) < 0.3),
        "upside down": _frames(lambda i, s, has_sound: abs(s - 3) < 0.3 and is_upside_down(i)),
        "flipped.mp4": _frames(lambda i, s, has_sound: abs(s - 3) < 0.3 and is_upside_down(i),
                               name="flipped.mp4")}),
    Wishes("give me the sound of clip.mp4 as an mp3 and three stills from it", "|clip.mp4", {
        "mp3": sound(6, suffix="mp3"), "stills": _pictures(3)}),
    Wishes("how long does this film last and how many pixels does it have", "trip.mp4", {
        "long": says(r"\b4([.,]\d+)? ?s|0:04"), "pixels": says(r"320\D+180")}),
    # Tables
    Wishes("sort sales.csv by amount, biggest first, and keep only the top 3", "|sales.csv", {
        "sort": table(lambda r: column(r, "amount")[:3] == ["505", "450", "310"]),
        "top 3": table(lambda r: column(r, "amount") == ["505", "450", "310"])}),
    Wishes("whats the average amount in sales.csv, which city has the highest total, and draw me a"
           " pie chart of amount by city", "|sales.csv", {
        "average": says(r"253[.,]75"), "highest": says("Rome"),
        "pie chart": picture(lambda i: i.width > 200)}),
    Wishes("drop the column notes from customers.csv, remove the duplicates and save it as an excel"
           " file", "|customers.csv", {
        "notes": table(_has_no("notes")), "duplicates": table(lambda r: len(r) == 4),
        "excel": table(lambda r: len(r) == 4 and _has_no("notes")(r), "xlsx")}),
    Wishes("add a row with the totals to sales.csv and make a bar chart of the amount per month",
           "|sales.csv", {
        "totals": table(lambda r: "2030" in str(r[-1])),
        "chart": picture(lambda i: i.width > 200)}),
    Wishes("join purchases.csv and customers.csv and tell me how many orders come from Hamburg",
           "|purchases.csv customers.csv", {
        "join": table(lambda r: {"city", "price"} <= {each.lower() for each in r[0]}),
        "orders": says(r"\b1\b|\bone\b")}),
    Wishes("fill in the missing categories in products.csv and then sort it by weight",
           "|products.csv", {
        "missing": table(_filled),
        "sort": table(lambda r: _filled(r) and column(r, "weight")[0] == "60")}),
    # Every day
    Wishes("set a timer for 12 minutes for the pasta and one for 20 minutes for the sauce", "", {
        "pasta": timer(12), "sauce": timer(20)}),
    Wishes("wake me at six thirty and what time is it in new york", "", {
        "wake": at_clock(6, 30), "time": says(CLOCK, "new york")}),
    Wishes("how many days until christmas and what weekday is that", "", {
        "days": says(_days(XMAS)), "weekday": says(f"{XMAS:%A}")}),
    Wishes("whats 18 times 23 and how much is 5 miles in kilometers", "", {
        "18 times": says(r"\b414\b"), "miles": says(r"8[.,]0[45]")}),
    Wishes("flip a coin, roll two dice and pick a number between 1 and 50", "", {
        "coin": says(COIN), "dice": says(rf"{DIE}.*{DIE}"),
        "pick": says(r"\b([1-9]|[1-4]\d|50)\b")}),
    Wishes("remember that my sister's birthday is on the 4th of may and tell me how many days it is"
           " until then", "", {
        "remember": says("sister"), "days": says(_days(MAY))}),
    Wishes("what is 350 fahrenheit in celsius, and set a timer for 25 minutes to take the cake out",
           "", {"fahrenheit": says(r"176[.,]6|176[.,]7|177"), "timer": timer(25)}),
    Wishes("spell rhythm and necessary", "", {
        "rhythm": says(r"r\W+h\W+y\W+t\W+h\W+m"),
        "necessary": says(r"n\W+e\W+c\W+e\W+s\W+s\W+a\W+r\W+y")}),
    Wishes("who was the first president of the united states and whats the square root of 1764", "",
           {"president": named, "square root": says(r"\b42\b")}),
    Wishes("write a poem about autumn and set a timer for half an hour", "", {
        "poem write": named, "timer": timer(30)}),
    Wishes("remind me at 3pm to call mum and email her that i'll be late", "", {
        "call mum": at_clock(15), "email": named}),
    # German
    Wishes("dreh das foto um 90 grad und mach es heller", "photo.jpg", {
        "dreh": picture(lambda i: i.height > i.width),
        "heller": picture(lambda i: i.height > i.width and np.asarray(i).mean() > 126)}),
    Wishes("fass bericht.pdf in zwei sätzen zusammen und lies es mir vor", "|bericht.pdf", {
        "fass": says("chapter"), "lies": either(made(WAVES), says("read aloud|vorgelesen|spoke"))}),
    Wishes("Wie spät ist es in Tokio, und wie viele Tage sind es noch bis Silvester?", "", {
        "Tokio": says(CLOCK), "Tage": says(_days(date(TODAY.year, 12, 31)))}),
    Wishes("stell einen timer auf 10 minuten und sag mir was 15 prozent von 80 sind", "", {
        "timer": timer(10), "prozent": says(r"\b12\b")}),
    Wishes("sortiere umsatz.csv nach umsatz und speichere sie als excel-datei", "|umsatz.csv", {
        "sortiere": table(lambda r: column(r, "umsatz")[0] in ("410", "1250")),
        "excel": table(lambda r: column(r, "umsatz")[0] in ("410", "1250"), "xlsx")}),
    Wishes("schneid die ersten 2 sekunden aus der aufnahme raus und mach sie lauter", "memo.wav", {
        "schneid": made(WAVES, _lasts(less=2)), "lauter": made(WAVES, _louder)}),
    Wishes("nimm den Ton aus speech.mp4 und schreib auf, was gesagt wird", "|speech.mp4", {
        "Ton": made(WAVES), "schreib": shown(*(f"(?i){each}" for each in MEMO_WORDS))}),
    Wishes("was steht auf dem bild und in welcher sprache ist das", "sign.png", {
        "steht": says("closed on monday"), "sprache": says("englis")}),
    Wishes("mach aus den beiden bildern ein pdf und lösch danach die bilder",
           "photo.jpg second.png", {"pdf": pdf(2), "lösch": named}),
    Wishes("übersetze brief.txt ins englische und zähl wie oft das wort rechnung vorkommt",
           "|brief.txt", {
        "übersetze translate": named, "zähl": says(r"\b2\b|zwei|twice|two")}),
]  # fmt: skip

ninth = [
    Wishes("get rid of the background in photo.jpg and make what's left 200 pixels high",
           "|photo.jpg", {
        "background": made("png"), "200 pixels high": picture(lambda i: i.height == 200)}),
    Wishes("can you darken photo.jpg a bit, add the caption See you soon at the bottom and give it"
           " to me as a webp", "|photo.jpg", {
        "darken": picture(lambda i: np.asarray(i)[:400].mean() < 140),
        "caption": picture(_has_writing), "webp": picture(_has_writing, "webp")}),
    Wishes("whats the resolution of this photo and turn it into a cartoon", "photo.jpg", {
        "resolution": says(r"800\D+600"), "cartoon": picture(lambda i: i.size == (800, 600))}),
    Wishes("scan the text on receipt.png, put it into a word document and read it to me",
           "|receipt.png", {
        "text": either(shown("(?i)corner bakery"), document("corner bakery")),
        "word": document("corner bakery"), "read": made(WAVES)}),
    Wishes("combine memo.wav and pauses.wav, make the whole thing quieter and export it as ogg",
           "|memo.wav pauses.wav", {
        "combine": made(WAVES, _lasts(less=-8)),
        "quieter": _of(WAVES, _lasts(less=-8), lambda p: _loudness(p, 0.45, 0.5) < 0.1),
        "ogg": _of("ogg", _lasts(less=-8), lambda p: _loudness(p, 0.45, 0.5) < 0.1)}),
    Wishes("clean up memo.wav and write a transcript to memo.txt", "|memo.wav", {
        "clean": made(WAVES, _lasts()),
        "transcript": text_file(*(f"(?i){each}" for each in MEMO_WORDS), name="memo.txt")}),
    Wishes("play trip.mp4 at double speed and take the sound off", "|trip.mp4", {
        "double speed": film(lambda s, has_sound: abs(s - 2) < 0.3, FILMS),
        "sound": film(lambda s, has_sound: not has_sound, FILMS)}),
    Wishes("make a gif out of trip.mp4 and give me the last picture of it as a png", "|trip.mp4", {
        "gif": made("gif"), "last picture": picture(lambda i: i.width >= 320, "png")}),
    Wishes("what is article.txt about in one sentence, and how many words has it got",
           "|article.txt", {
        "about": lambda outcome: _article_sentences(outcome.said) == 1,
        "words": says(rf"\b{ARTICLE_WORDS}\b")}),
    Wishes("delete page 1 of report.pdf and turn the rest into pictures", "|report.pdf", {
        "delete": either(pdf(3, hasnt="chapter one"), _pictures(3)), "pictures": _pictures(3)}),
    Wishes("who earns the least in staff.csv, what do the people in sales earn on average and sort"
           " everybody by name", "|staff.csv", {
        "least": says("Clark"), "average": says(r"30,?666"),
        "sort": table(lambda r: column(r, "name")[:2] == ["Adams", "Baker"])}),
    Wishes("split sales.csv by city and tell me how much Oslo made in total", "|sales.csv", {
        "split": lambda outcome: sum(p.suffix == ".csv" for p in outcome.files.values()) >= 3,
        "Oslo": says(r"\b750\b")}),
    Wishes("how long till halloween and set an alarm for quarter past eight", "", {
        "halloween": says(_days(date(TODAY.year, 10, 31))),
        "alarm": either(at_clock(8, 15), at_clock(20, 15))}),
    Wishes("convert 12 stone to kilos and then tell me what 20% off 85 pounds is", "", {
        "stone": says(r"76[.,]2"), "20% off": says(r"\b68\b")}),
    Wishes("note that the wifi code is 8812 and ask the plumber to call me back", "", {
        "note": says("8812"), "plumber": named}),
    Wishes("rember i dont eat nuts and roll a dice for me", "", {
        "rember": says("remember.*nuts"), "dice": says(DIE)}),
    Wishes("book me a table for two at eight and remind me at seven to get ready", "", {
        "book": named, "remind": either(at_clock(7), at_clock(19))}),
    Wishes("Zieh die Schlüsselwörter aus article.txt und sag mir, wie viele Wörter der Text hat",
           "|article.txt", {
        "Schlüsselwörter": says("garden|harbour"), "Wörter": says(rf"\b{ARTICLE_WORDS}\b")}),
    Wishes("welcher tag ist heiligabend und erinnere mich in 20 minuten an den ofen", "", {
        "heiligabend": says(f"{date(TODAY.year, 12, 24):%A}"), "ofen": timer(20)}),
    Wishes("mach das video leiser, kürze es auf 2 sekunden und nenn es kurz.mp4", "trip.mp4", {
        "leiser": _of("mp4", lambda p: _loudness(p, 0, 1) < 0.035),
        "kürze": film(lambda s, has_sound: abs(s - 2) < 0.3, FILMS),
        "kurz.mp4": made("mp4", name="kurz.mp4")}),
]  # fmt: skip
