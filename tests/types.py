"""Small task types that tests of the core and the assistant share."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Option, Port, TaskType

TEXT, IMAGE, AUDIO = Kind.TEXT, Kind.IMAGE, Kind.AUDIO

READ = TaskType("image-to-text", "Reads.", (Port("image", (IMAGE,)),), (TEXT,))
SHORTEN = TaskType(
    "summarization",
    "Shortens.",
    (Port("text", (TEXT,)),),
    (TEXT,),
    options=(Option("sentences", "how many", 3), Option("share", "how much", 0.5)),
)
SPEAK = TaskType("text-to-speech", "Speaks.", (Port("text", (TEXT,)),), (AUDIO,))
BLUR = TaskType(
    "image-editing",
    "Edits.",
    (Port("image", (IMAGE,)),),
    (IMAGE,),
    options=(
        Option("edit", "which", "blur", choices=("blur", "grey")),
        Option("strong", "whether strongly", False),
    ),
)
FIND = TaskType("object-detection", "Finds.", (Port("image", (IMAGE,)),), (TEXT, IMAGE))
JOIN = TaskType("join", "Joins.", (Port("texts", (TEXT,), many=True),), (TEXT,))
COMPARE = TaskType(
    "sentence-similarity", "Compares.", (Port("text_1", (TEXT,)), Port("text_2", (TEXT,))), (TEXT,)
)
CLOCK = TaskType("clock", "Tells the time.", (), (TEXT,))
