"""Texts as experts give them, right ones and damaged ones, for the benchmark of the checks."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.task import Call
from jarvis_desktop.tasks.registry import INVENTORY

TYPES = {item.name: item for item in INVENTORY}

ENGLISH = """The town council met on Tuesday to talk about the old bridge. Engineers had warned in
spring that its pillars were weaker than anybody had thought. The mayor said that repairs would take
two years and cost four million pounds. Shop owners in Mill Street fear that customers will stay
away. A ferry could carry people across the river while the bridge is closed. The council will
decide about the money in June. Until then lorries may not use the bridge. A sign on both sides
tells drivers of the longer way round by the motorway."""
GERMAN = """Der Stadtrat kam am Dienstag zusammen, um über die alte Brücke zu sprechen. Ingenieure
hatten im Frühling gewarnt, dass die Pfeiler schwächer seien, als man geglaubt hatte. Der
Bürgermeister sagte, die Reparatur werde zwei Jahre dauern und vier Millionen Pfund kosten. Die
Ladenbesitzer in der Mühlstraße fürchten, dass die Kunden wegbleiben. Eine Fähre könnte die Leute
über den Fluss bringen, während die Brücke gesperrt ist. Der Rat wird im Juni über das Geld
entscheiden. Bis dahin dürfen Lastwagen die Brücke nicht benutzen."""
CHINESE = """镇议会星期二开会讨论那座旧桥。工程师在春天警告说，桥墩比人们想象的要脆弱。市长说，
维修需要两年时间，花费四百万英镑。磨坊街的店主担心顾客不会再来。桥关闭期间，渡船可以载人过河。
议会将在六月决定资金问题。在那之前，卡车不得使用这座桥。两边都有标志告诉司机走高速公路绕行。"""
SUMMARY = """Engineers warned that the pillars of the old bridge are weak. Repairs will take two
years and cost four million pounds. The council decides about the money in June."""
POEM = (
    """The rain comes down, the rain comes down, it fills the river to the brim;
the rain comes down, the rain comes down, and every frog has learned to swim.
"""
    * 3
)
NUMBERS = "\n".join(f"{n} {n * n} {n**3}" for n in range(120))
TABLE = "| name | yes | no |\n" + "\n".join(f"| row {n} | yes | no |" for n in range(40))
CODE = "".join(
    f"def step_{n}(value):\n    return value + {n}\n\n" for n in ("one", "two", "three", "four")
)


@dataclass(frozen=True)
class Case:
    """One result of one call."""

    name: str
    call: Call
    made: tuple[Artifact, ...]
    wrong: bool


def texts(folder: Path) -> Iterator[Case]:
    """What experts write."""

    def case(
        task: str, ports: Mapping[str, str], said: str, wrong: str = "", **options: str
    ) -> Case:
        whole = {option.name: option.default for option in TYPES[task].options} | options
        inputs = {port: (text_artifact(text),) for port, text in ports.items()}
        call = Call(task, inputs, whole, folder)
        return Case(wrong or task, call, (text_artifact(said),), bool(wrong))

    def seen(task: str, kind: Kind, said: str, wrong: str = "", **options: str) -> Case:
        whole = {option.name: option.default for option in TYPES[task].options} | options
        given = {TYPES[task].ports[0].name: (Artifact(kind, path=folder / "given"),)}
        return Case(
            wrong or task, Call(task, given, whole, folder), (text_artifact(said),), bool(wrong)
        )

    article, german = {"text": ENGLISH}, {"text": GERMAN}
    ask = {"question": "How long will the repairs take?", "context": ENGLISH}
    rhyme = {"prompt": "Write a poem about rain and frogs."}
    sorts, labels = "zero-shot-classification", "sport, politics, town life"
    shares = "town life: 81%\npolitics: 16%\nsport: 3%"
    # What is right.
    yield case("summarization", article, SUMMARY)
    yield case("summarization", {"text": "One sentence only."}, "One sentence only.")
    yield case("summarization", {"text": " ".join(ENGLISH.split(". ")[:3])}, ENGLISH[:240])
    for given, said, language in (
        (ENGLISH, GERMAN, "German"),
        (GERMAN, ENGLISH, "English"),
        (ENGLISH, CHINESE, "Chinese"),
        (CHINESE, ENGLISH, "English"),
        (ENGLISH, ENGLISH, "English"),
        ("Paris", "Paris", "German"),
        ("iPhone 15 Pro Max", "iPhone 15 Pro Max", "French"),
        ("Good morning!", "Guten Morgen!", "de"),
        (NUMBERS, NUMBERS, "German"),
    ):
        yield case("translation", {"text": given}, said, language=language)
    yield case("translation", {"text": GERMAN}, ENGLISH, language="Klingon")
    for said in ("two years", "Two.", "The repairs will take two years.", "2 years (“two years”)"):
        yield case("question-answering", ask, said)
    for said in (POEM, NUMBERS, TABLE, CODE, "No.", GERMAN, CHINESE, "naïve café – “quoted” 100 €"):
        yield case("text-generation", rhyme, said)
    yield case("text-generation", {"prompt": "hello"}, "Hello!")
    yield case("text-generation", {"prompt": "Repeat: " + "ha " * 900}, "ha " * 900)
    yield case("text-classification", article, "negative: 61%\nneutral: 39%")
    yield case("text-classification", {"text": "Nan was here"}, "That sounds positive (100 %).")
    yield case(sorts, article, shares, labels=labels)
    yield case(sorts, article, "Town life (81 %)", labels=labels)
    yield case("sentence-similarity", {"text_1": "a b", "text_2": "c d"}, "They are 93 % alike.")
    yield case("token-classification", article, "place: Mill Street\ntime: Tuesday, June")
    yield case("fill-mask", {"text": "Paris is the [MASK] of France."}, "Paris is the capital …")
    yield seen("automatic-speech-recognition", Kind.AUDIO, "Yes, yes, yes. I see. Thank you.")
    yield seen("automatic-speech-recognition", Kind.AUDIO, ENGLISH)
    yield seen("image-to-text", Kind.IMAGE, "a cat on a mat")
    yield seen("image-to-text", Kind.IMAGE, f"{GERMAN}\n\nSeite 2")
    yield seen("document-to-text", Kind.DOCUMENT, _misread(GERMAN))  # the file itself is so
    yield seen("image-classification", Kind.IMAGE, "tabby cat: 71%\nlynx: 9%")
    yield seen("zero-shot-image-classification", Kind.IMAGE, "a dog: 99%", labels="a dog, a cat")
    yield seen("audio-classification", Kind.AUDIO, "music: 88%\nspeech: 9%")
    yield seen("video-classification", Kind.VIDEO, "juggling: 42%")
    yield seen("visual-question-answering", Kind.IMAGE, "three")
    # What is wrong.
    for task, ports, said, options in (
        ("summarization", article, SUMMARY, {}),
        ("translation", article, GERMAN, {"language": "German"}),
        ("question-answering", ask, GERMAN, {}),
        ("text-generation", rhyme, GERMAN, {}),
        ("text-classification", article, shares, {}),
        (sorts, article, shares, {"labels": labels}),
    ):
        yield case(task, ports, "", "empty", **options)
        yield case(task, ports, " \n\t", "empty", **options)
        yield case(
            task,
            ports,
            "".join(random.Random(1).choices("\ufffdab", k=300)),
            "unreadable",
            **options,
        )
        yield case(task, ports, bytes(range(32)).decode("latin-1") * 9, "unreadable", **options)
        yield case(task, ports, f"{said} " * 40, "loop", **options)
        yield case(task, ports, "the bridge the bridge " * 60, "loop", **options)
    for task, said, options in (
        ("summarization", GERMAN, {}),
        ("translation", GERMAN, {"language": "German"}),
        ("text-generation", GERMAN, {}),
        ("question-answering", GERMAN, {}),
    ):
        by_task = {"summarization": german, "translation": article, "text-generation": rhyme}
        ports = by_task.get(task, ask)
        yield case(task, ports, _misread(said), "mojibake", **options)
    yield case("summarization", article, ENGLISH, "echo")
    yield case("summarization", article, f"Summary: {ENGLISH}", "echo")
    yield case("summarization", article, f"{ENGLISH} {GERMAN}", "too long")
    yield case("translation", article, ENGLISH, "echo", language="German")
    yield case("translation", german, GERMAN, "echo", language="English")
    yield case("translation", article, CHINESE, "other language", language="German")
    yield case("translation", article, "Der Stadtrat kam", "cut off", language="German")
    yield case("translation", article, "Ja.", "cut off", language="German")
    yield case(
        "translation", article, " ".join([GERMAN[::-1], GERMAN] * 9), "too long", language="German"
    )
    yield case("text-generation", rhyme, "Write a poem about rain and frogs.", "echo")
    yield case("text-generation", rhyme, "write a poem about RAIN and frogs", "echo")
    yield case("question-answering", ask, ask["question"], "echo")
    for said in ("weather: 97%", "none of these", "label_0: 51%"):
        yield case(sorts, article, said, "label not in the set", labels=labels)
        image = "zero-shot-image-classification"
        yield seen(image, Kind.IMAGE, said, "label not in the set", labels="a dog, a cat")
    for said in ("positive: nan%\nnegative: nan%", "positive: inf %"):
        yield case("text-classification", article, said, "no number")
        yield seen("image-classification", Kind.IMAGE, said, "no number")
    for said in ("positive: 9700%", "positive: -3%"):
        yield case("text-classification", article, said, "share")
        yield seen("audio-classification", Kind.AUDIO, said, "share")
    yield case(
        "sentence-similarity", {"text_1": "a", "text_2": "b"}, "They are nan % alike.", "no number"
    )
    for said in ("Thank you. " * 80, "you " * 400, "ご視聴ありがとうございました。" * 60):
        yield seen("automatic-speech-recognition", Kind.AUDIO, said, "loop")
    for said in ("a a a a a " * 100, "cat " * 300):
        yield seen("image-to-text", Kind.IMAGE, said, "loop")


def _misread(text: str) -> str:
    return text.encode().decode("cp1252", "replace")
