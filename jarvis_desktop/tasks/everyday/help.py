"""Help: what the assistant can do, and answers to greetings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Call, Report, TaskOption, TaskType
from jarvis_desktop.tasks.definition import Definition, Services, define
from jarvis_desktop.text.tokens import FUNCTION_WORDS

_SMALL_TALK: tuple[tuple[tuple[str, ...], str], ...] = (
    (("thank", "thanks", "cheers", "thank you"), mark("You're welcome.")),
    (("good night",), mark("Good night.")),
    (("bye", "goodbye", "see you"), mark("Goodbye.")),
    (("who are you", "your name", "introduce"),
     mark("I am JARVIS, an assistant that runs on this computer: I plan what you ask for and hand "
          "each step to a program that can do it.")),
    (("who made", "who built", "who created"), mark("I am JARVIS Desktop, a free program.")),
    (("robot", "human", "alive", "real person", "machine"),
     mark("I am a program on this computer.")),
    (("how are you", "how do you do"), mark("I am a program and always ready. What shall I do?")),
    (("are you there", "can you hear"), mark("Yes, I am here.")),
    (("good morning",), mark("Good morning. What shall I do?")),
    (("good evening",), mark("Good evening. What shall I do?")),
    (("good afternoon",), mark("Good afternoon. What shall I do?")),
    (("hello", "hi", "hey", "nice to meet", "greetings"), mark("Hello. What shall I do?")),
)  # fmt: skip

_GROUPS = (
    mark("Everyday"),
    mark("Text"),
    mark("Documents and tables"),
    mark("Pictures"),
    mark("Sound and speech"),
    mark("Video"),
)
_EXAMPLES = {
    "clock": mark("What time is it in Tokyo?"),
    "calculator": mark("What is 15 percent of 240?"),
    "timer": mark("Set a timer for ten minutes"),
    "lists": mark("Add milk to my shopping list"),
    "open-folder": mark("Open my downloads folder"),
    "chance": mark("Flip a coin"),
    "convert-file": mark("Convert report.docx to PDF"),
    "cut-file": mark("Keep pages 2 to 5 of report.pdf"),
    "join-files": mark("Turn these photos into one PDF"),
    "spell": mark("How do you spell rhythm?"),
    "summarization": mark("Summarise report.pdf in three sentences and read it to me"),
    "text-classification": mark("Is this review positive or negative: “…”"),
    "sentence-similarity": mark("How do these two sentences compare: “…” and “…”"),
    "question-answering": mark("When does the contract in lease.docx end?"),
    "document-to-text": mark("Read the text of letter.pdf"),
    "table-question-answering": mark("Which country in table.csv has the highest income?"),
    "edit-table": mark("Sort table.csv by price, highest first"),
    "chart": mark("Plot the price in table.csv over time"),
    "image-to-text": mark("What does this sign say?"),
    "image-to-image": mark("Turn photo.jpg into a pencil sketch and rotate it 90 degrees"),
    "image-editing": mark("Make photo.jpg brighter"),
    "object-detection": mark("Find the faces in group.jpg"),
    "document-question-answering": mark("What is the total on this receipt?"),
    "automatic-speech-recognition": mark("Transcribe meeting.wav and give me the key words"),
    "file-details": mark("How long is this recording?"),
    "text-to-speech": mark("Say “good morning” and save it as hello.wav"),
    "audio-to-audio": mark("Clean up the noise in memo.wav"),
    "video-to-audio": mark("Take the audio out of clip.mp4"),
}


async def show_help(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Answer a greeting, or say what can be asked for."""
    return [text_artifact(answer(call.words("topic"), services.definitions))]


def answer(topic: str, definitions: Sequence[Definition]) -> str:
    """Small talk for a greeting, the tasks of a topic, or an overview of all that works now."""
    said = " ".join(topic.casefold().replace("’", "'").split()).strip(" ?!.,")
    words = "".join(sign if sign.isalnum() or sign == "'" else " " for sign in said).split()
    line = f" {' '.join(words)} "
    for phrases, reply in _SMALL_TALK:
        if len(words) <= 8 and any(f" {phrase} " in line for phrase in phrases):
            return tr(reply)
    working = [item for item in definitions if item.method or item.skill]
    if about := [item for item in definitions if _is_about(item.type, words)]:
        lines = [_describe(item) for item in about[:5]]
        return lines[0] if len(lines) == 1 else "\n".join(f"- {line}" for line in lines)
    return overview(working)


def overview(definitions: Sequence[Definition]) -> str:
    """What works now, in groups, with example requests."""
    lines = [tr("You can say or type, with files dropped on the window:")]
    for group in _GROUPS:
        members = [item for item in definitions if _group(item.type) == group]
        if not members:
            continue
        lines += ["", f"{tr(group)}:"]
        examples = [_EXAMPLES[item.type.name] for item in members if item.type.name in _EXAMPLES]
        lines += [f"- {tr(example)}" for example in examples[:9]]
        others = [item.type.summary for item in members if item.type.name not in _EXAMPLES]
        if not examples:
            lines += [f"- {tr(summary)}" for summary in others[:5]]
    lines += ["", tr("Ask for “help with pictures”, say, to hear more.")]
    return "\n".join(lines)


_SMALL_WORDS = FUNCTION_WORDS | frozenset(
    "help say ask asked work tell list everything things jarvis question questions answer kind "
    "kinds type types category categories subject subjects topic topics able know sort sorts "
    "ai".split()
)
_TOPICS = {
    word: group
    for group, words in (
        ("Pictures", "picture pictures photo photos image images"),
        ("Sound and speech", "sound audio speech recordings music voice"),
        ("Video", "video videos"),
        ("Text", "text texts writing"),
        ("Documents and tables", "document documents files pdf tables spreadsheets"),
    )
    for word in words.split()
}


def _is_about(type: TaskType, words: Sequence[str]) -> bool:
    telling = [word for word in words if word not in _SMALL_WORDS]
    if not telling or len(telling) > 4:
        return False
    if any(_TOPICS.get(word) == _group(type) for word in telling):
        return True
    name = type.name.replace("-", " ").split()
    return any(word.rstrip("s") in (part.rstrip("s") for part in name) for word in telling)


def _describe(definition: Definition) -> str:
    example = _EXAMPLES.get(definition.type.name, "")
    parts = [tr(definition.type.summary)]
    if not definition.method and not definition.skill:
        parts.append(tr("That needs an expert that is not built in."))
    elif example:
        parts.append(tr("Try: {example}", example=tr(example)))
    return " ".join(parts)


def _group(type: TaskType) -> str:
    kind = type.ports[0].kinds[0] if type.ports and len(type.ports[0].kinds) < 6 else None
    if type.name in ("text-to-speech", "file-details"):  # its example is about a recording
        return "Sound and speech"
    match kind:
        case Kind.TEXT:
            return "Text"
        case Kind.IMAGE:
            return "Pictures"
        case Kind.AUDIO:
            return "Sound and speech"
        case Kind.VIDEO:
            return "Video"
        case Kind.TABLE | Kind.DOCUMENT:
            return "Documents and tables"
        case None:
            return "Everyday"


HELP = define(
    name="help", label="Help",
    summary="Says what this assistant can do, and answers greetings.",
    options=(TaskOption("topic", "what help is wanted with, or the greeting", "", reads="clause"),),
    cues=(
        "^help$", "^help me$", "what can you do", "^hello$", "^hi$", "^thank you$",
        "^thanks$", "^was kannst du", "^你能做什么", "^你会做什么",  # as the translated texts say
    ),
    skill=show_help, note="lists what works now, with requests to try",
)  # fmt: skip
