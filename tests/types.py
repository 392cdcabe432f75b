"""Small task types that tests of the core and the assistant share."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Port, TaskOption, TaskType

TEXT, IMAGE, AUDIO = Kind.TEXT, Kind.IMAGE, Kind.AUDIO

READ = TaskType("image-to-text", "Reads.", (Port("image", (IMAGE,)),), (TEXT,))
SHORTEN = TaskType(
    "summarization",
    "Shortens.",
    (Port("text", (TEXT,)),),
    (TEXT,),
    options=(TaskOption("sentences", "how many", 3), TaskOption("share", "how much", 0.5)),
)
SPEAK = TaskType("text-to-speech", "Speaks.", (Port("text", (TEXT,)),), (AUDIO,))
BLUR = TaskType(
    "image-editing",
    "Edits.",
    (Port("image", (IMAGE,)),),
    (IMAGE,),
    options=(
        TaskOption("edit", "which", "blur", choices=("blur", "grey")),
        TaskOption("strong", "whether strongly", False),
    ),
)
FIND = TaskType("object-detection", "Finds.", (Port("image", (IMAGE,)),), (TEXT, IMAGE))
JOIN = TaskType("join", "Joins.", (Port("texts", (TEXT,), many=True),), (TEXT,))
COMPARE = TaskType(
    "sentence-similarity", "Compares.", (Port("text_1", (TEXT,)), Port("text_2", (TEXT,))), (TEXT,)
)
CLOCK = TaskType("clock", "Tells the time.", (), (TEXT,))
