"""How many wrong results are told from right ones: outputs as experts give them, and damaged ones.

Run: python -m tests.benchmarks.outcomes
"""

from __future__ import annotations

import math
import random
import struct
import tempfile
import wave
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from jarvis_desktop.backends.result_checks import checked, inspect
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.task import Call
from tests.benchmarks.outcome_texts import ENGLISH, TYPES, Case, texts

LEAST_SEEN = 0.95
MOST_FALSE = 0.02


def cases(folder: Path, *, variants: int = 8) -> Iterator[Case]:
    """All cases. Files are made in `folder`; those of chance come in so many variants."""
    yield from texts(folder)
    for seed in range(variants):
        yield from pictures(folder, random.Random(seed))
        yield from sounds(folder, random.Random(seed))
    yield from films(folder)
    yield from tables(folder)


def found(case: Case) -> str:
    """What is said against a result, by the checks that every backend and the executor make."""
    expert = Expert("expert", case.call.task)
    try:
        checked(case.made, TYPES[case.call.task])
        inspect(Candidate(expert, "local"), case.call, TYPES[case.call.task], case.made)
    except ExpertError as error:
        return error.message
    return ""


def pictures(folder: Path, dice: random.Random) -> Iterator[Case]:
    """What experts draw; they are made anew for each seed."""
    from PIL import Image, ImageDraw

    def saved(image: Image.Image, name: str, **settings: object) -> Path:
        path = folder / f"{dice.randrange(10**9)}-{name}"
        image.save(path, **settings)  # type: ignore[arg-type]
        return path

    def case(
        task: str,
        path: Path,
        wrong: str = "",
        *,
        given: Path | None = None,
        prompt: str = "a red fox in the snow",
    ) -> Case:
        ports: dict[str, tuple[Artifact, ...]] = {}
        for port in TYPES[task].ports:
            if Kind.TEXT in port.kinds:
                ports[port.name] = (text_artifact(prompt),)
            elif port.name == "image":
                ports[port.name] = (Artifact(Kind.IMAGE, path=given or photo),)
        options = {option.name: option.default for option in TYPES[task].options}
        made = (Artifact(Kind.IMAGE, path=path),)
        return Case(wrong or task, Call(task, ports, options, folder), made, bool(wrong))

    size = (dice.choice((256, 384)), dice.choice((256, 320)))
    photo = saved(_photo(size, dice), "photo.jpg", quality=90)
    other = _photo(size, dice)
    line = Image.new("RGB", size, "white")
    x, y = dice.randrange(40, 200), dice.randrange(40, 200)
    ImageDraw.Draw(line).ellipse((x, y, x + 40, y + 40), outline="black", width=2)
    scan = Image.new("L", size, 250)
    ImageDraw.Draw(scan).text((20, 20), "Dear Sir or Madam,\nthe bridge is closed.", fill=20)
    night = other.point(lambda value: value // 12)
    ramp = Image.linear_gradient("L").resize(size)
    white, black = Image.new("RGB", size, "white"), Image.new("RGB", size)
    grey = Image.new("L", size, dice.randrange(256))
    faint = Image.effect_noise(size, 1.0)
    drawn = ("text-to-image", "inpainting", "image-to-image", "canny-text-to-image")
    # What is right.
    for task in drawn:
        for image in (other, line, night):
            yield case(task, saved(image, "made.png"))
        yield case(task, saved(other, "made.jpg"))
        yield case(task, saved(white, "made.png"), prompt="a plain white background")
        yield case(task, saved(black, "made.png"), prompt="nothing but black")
    yield case("depth-estimation", saved(ramp, "depth.png"))
    for task in ("canny-control", "openpose-control", "mlsd-control", "mask-generation"):
        yield case(task, saved(black, "edges.png"))  # of a bare wall
    for task in ("image-to-image", "depth-estimation"):
        yield case(task, saved(grey, "made.png"), given=saved(white, "blank.png"))
    yield case("image-to-image", saved(scan, "made.png"))
    yield case("object-detection", photo, given=photo)  # nothing found, nothing drawn
    yield case("image-editing", saved(other.convert("L"), "grey.png"))
    # What is wrong.
    yield case("object-detection", saved(black, "found.png"), "blank")
    for task in (*drawn, "depth-estimation", "normal-control", "seg-control"):
        for image in (white, black, grey, faint):
            yield case(task, saved(image, "made.png"), "blank")
        yield case(task, saved(other.resize((1, 1)), "made.png"), "wrong size")
        whole = saved(other, "made.png").read_bytes()
        yield case(task, _written(folder, dice, "made.png", whole[: len(whole) // 2]), "cut off")
        yield case(task, _written(folder, dice, "made.png", b"<html>Too many"), "not a picture")
        yield case(
            task,
            _written(folder, dice, "made.png", whole[:2000] + bytes(200) + whole[2200:]),
            "damaged",
        )
    for task in ("image-to-image", "inpainting"):
        yield case(task, _written(folder, dice, "same.jpg", photo.read_bytes()), "echo")
        with Image.open(photo) as image:
            yield case(task, saved(image, "same.png"), "echo")
    whole = photo.read_bytes()
    yield case(
        "object-detection", _written(folder, dice, "found.jpg", whole[: len(whole) // 2]), "cut off"
    )


def sounds(folder: Path, dice: random.Random) -> Iterator[Case]:
    """What experts say and play."""

    def case(
        task: str,
        path: Path,
        wrong: str = "",
        *,
        given: Path | None = None,
        text: str = "Good morning, this is a short test.",
    ) -> Case:
        ports: dict[str, tuple[Artifact, ...]] = {}
        for port in TYPES[task].ports:
            made = given or noise
            ports[port.name] = (
                (text_artifact(text),)
                if Kind.TEXT in port.kinds
                else (Artifact(Kind.AUDIO, path=made),)
            )
        options = {option.name: option.default for option in TYPES[task].options}
        sound = (Artifact(Kind.AUDIO, path=path),)
        return Case(wrong or task, Call(task, ports, options, folder), sound, bool(wrong))

    def wav(values: Callable[[int], float], *, seconds: float = 3.0) -> Path:
        path = folder / f"{dice.randrange(10**9)}.wav"
        with wave.open(str(path), "wb") as file:
            file.setparams((1, 2, rate, 0, "NONE", ""))
            count = int(seconds * rate)
            file.writeframes(struct.pack(f"<{count}h", *(int(values(n)) for n in range(count))))
        return path

    rate, tone = dice.choice((8000, 16000)), dice.randrange(100, 900)
    noise = wav(lambda n: dice.gauss(0, 2000))
    speech = wav(lambda n: 6000 * math.sin(n * tone / rate) * (1 + math.sin(n / 900)) / 2)
    whisper = wav(lambda n: 60 * math.sin(n * tone / rate))
    late = wav(lambda n: 5000 * math.sin(n * tone / rate) if n > rate else 0)
    silence, hum = wav(lambda n: 0), wav(lambda n: dice.choice((-1, 0, 1)))
    constant = wav(lambda n: -32768)
    whole = speech.read_bytes()
    # What is right.
    for task in ("text-to-speech", "text-to-audio", "audio-to-audio"):
        for path in (speech, whisper, late):
            yield case(task, path)
    yield case("text-to-audio", silence, text="three seconds of silence")
    yield case("audio-to-audio", hum, given=silence)
    yield case("text-to-speech", wav(lambda n: 900 * math.sin(n / 9), seconds=0.3), text="Yes.")
    yield case("text-to-audio", _written(folder, dice, "made.flac", b"fLaC" + bytes(900)))
    yield case(
        "text-to-audio", _written(folder, dice, "made.mp3", b"\xff\xfb\x90\x00" + bytes(900))
    )
    # What is wrong.
    for task in ("text-to-speech", "text-to-audio", "audio-to-audio"):
        for path in (silence, hum, constant):
            yield case(task, path, "silence")
        yield case(task, wav(lambda n: 0, seconds=0), "no length")
        yield case(task, _written(folder, dice, "made.wav", b'{"error": "busy"}'), "not a sound")
        yield case(task, _written(folder, dice, "made.mp3", b"<!DOCTYPE html>"), "not a sound")
        yield case(task, _written(folder, dice, "made.wav", whole[:44]), "cut off")
    yield case(
        "text-to-speech", wav(lambda n: 900 * math.sin(n / 9), seconds=1), "cut off", text=ENGLISH
    )


def films(folder: Path) -> Iterator[Case]:
    """What experts film; real MP4s from the tests of the film tasks."""
    from tests.tasks.filming import film

    call = Call("text-to-video", {"prompt": (text_artifact("a fox"),)}, {}, folder)
    whole = film(folder / "film.mp4").read_bytes()
    dice = random.Random(0)

    def case(content: bytes, wrong: str = "") -> Case:
        path = _written(folder, dice, "made.mp4", content)
        return Case(wrong or call.task, call, (Artifact(Kind.VIDEO, path=path),), bool(wrong))

    yield case(whole)
    for share in (0.02, 0.3, 0.6, 0.99):
        yield case(whole[: int(share * len(whole))], "cut off")
    yield case(b"<html>502 Bad Gateway</html>", "not a film")
    yield case(b"", "empty")


def _photo(size: tuple[int, int], dice: random.Random):
    from PIL import Image, ImageDraw

    image = Image.linear_gradient("L").resize(size).convert("RGB")
    draw = ImageDraw.Draw(image)
    for _ in range(12):
        x, y, r = dice.randrange(size[0]), dice.randrange(size[1]), dice.randrange(10, 60)
        draw.ellipse((x - r, y - r, x + r, y + r), fill=tuple(dice.choices(range(256), k=3)))
    return image


def _written(folder: Path, dice: random.Random, name: str, content: bytes) -> Path:
    path = folder / f"{dice.randrange(10**9)}-{name}"
    path.write_bytes(content)
    return path


def tables(folder: Path) -> Iterator[Case]:
    """Vectors, which experts write down."""
    call = Call("feature-extraction", {"text": (text_artifact("a b"),)}, {"each": "text"}, folder)
    for number, (content, wrong) in enumerate(
        (
            ("text,1,2\nNan,0.25,-1e-3\n", ""),
            ("text,1,2\na b,nan,nan\n", "no number"),
            ("\0\0\0\0", "unreadable"),
        )
    ):
        path = folder / f"{number}.csv"
        path.write_text(content)
        yield Case(wrong or call.task, call, (Artifact(Kind.TABLE, path=path),), bool(wrong))


def main() -> None:
    """Print the table."""
    seen, wrong, alarms, right = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(Path(folder)):
            (wrong if case.wrong else right)[case.name] += 1
            if words := found(case):
                (seen if case.wrong else alarms)[case.name] += 1
                if not case.wrong:
                    print(f"false alarm: {case.name}: {words}")
            elif case.wrong:
                print(f"not seen: {case.name}, {case.call.task}")
    for name in wrong:
        print(f"{name:24}{seen[name]:5} of {wrong[name]:4} seen")
    print(f"\n{seen.total() / wrong.total():.1%} of {wrong.total()} wrong results seen")
    print(f"{alarms.total() / right.total():.1%} of {right.total()} right ones doubted")


if __name__ == "__main__":
    main()
