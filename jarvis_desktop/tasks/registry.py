"""The registry of tasks. A new task is a definition in this package and a line here."""

from __future__ import annotations

from jarvis_desktop.tasks.audio.effects import AUDIO_TO_AUDIO
from jarvis_desktop.tasks.audio.recognition import (
    AUDIO_CLASSIFICATION,
    AUTOMATIC_SPEECH_RECOGNITION,
)
from jarvis_desktop.tasks.audio.synthesis import TEXT_TO_AUDIO, TEXT_TO_SPEECH
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.documents.document_qa import DOCUMENT_QUESTION_ANSWERING
from jarvis_desktop.tasks.documents.table_chart import CHART
from jarvis_desktop.tasks.documents.table_edit import EDIT_TABLE
from jarvis_desktop.tasks.documents.table_qa import TABLE_QUESTION_ANSWERING
from jarvis_desktop.tasks.documents.tabular import TABULAR_CLASSIFICATION
from jarvis_desktop.tasks.documents.to_text import DOCUMENT_TO_TEXT
from jarvis_desktop.tasks.everyday.calculator import CALCULATOR
from jarvis_desktop.tasks.everyday.clock import CLOCK
from jarvis_desktop.tasks.everyday.files import FILE_DETAILS, OPEN_FILE, OPEN_FOLDER
from jarvis_desktop.tasks.everyday.help import HELP
from jarvis_desktop.tasks.everyday.lists import LISTS
from jarvis_desktop.tasks.everyday.memory import FORGET, REMEMBER
from jarvis_desktop.tasks.everyday.save_file import SAVE_FILE
from jarvis_desktop.tasks.everyday.small_skills import CHANCE, REPEAT, SPELL, STOP
from jarvis_desktop.tasks.everyday.this_computer import THIS_COMPUTER
from jarvis_desktop.tasks.everyday.timer import TIMER
from jarvis_desktop.tasks.everyday.typed_words import TYPED_WORDS
from jarvis_desktop.tasks.formats.arranging import ARRANGE_FILES
from jarvis_desktop.tasks.formats.conversion import CONVERT_FILE
from jarvis_desktop.tasks.formats.cut import CUT_FILE
from jarvis_desktop.tasks.formats.join import JOIN_FILES
from jarvis_desktop.tasks.images.classification import (
    IMAGE_CLASSIFICATION,
    ZERO_SHOT_IMAGE_CLASSIFICATION,
)
from jarvis_desktop.tasks.images.control import CONTROL_TASKS
from jarvis_desktop.tasks.images.detection import OBJECT_DETECTION, ZERO_SHOT_OBJECT_DETECTION
from jarvis_desktop.tasks.images.editing import IMAGE_EDITING, IMAGE_TO_IMAGE
from jarvis_desktop.tasks.images.generation import CONTROL_TEXT_TO_IMAGE, INPAINTING, TEXT_TO_IMAGE
from jarvis_desktop.tasks.images.segmentation import (
    DEPTH_ESTIMATION,
    IMAGE_SEGMENTATION,
    MASK_GENERATION,
)
from jarvis_desktop.tasks.images.to_text import IMAGE_TO_TEXT, VISUAL_QUESTION_ANSWERING
from jarvis_desktop.tasks.text.classification import (
    LANGUAGE_IDENTIFICATION,
    TEXT_CLASSIFICATION,
    ZERO_SHOT_CLASSIFICATION,
)
from jarvis_desktop.tasks.text.collected_values import COLLECT_VALUES
from jarvis_desktop.tasks.text.differences import DIFFERENCES
from jarvis_desktop.tasks.text.extraction import KEYWORD_EXTRACTION, TOKEN_CLASSIFICATION
from jarvis_desktop.tasks.text.generation import (
    FILL_MASK,
    SUMMARIZATION,
    TEXT_GENERATION,
    TRANSLATION,
)
from jarvis_desktop.tasks.text.line_editing import LINE_EDITING
from jarvis_desktop.tasks.text.question_answering import QUESTION_ANSWERING
from jarvis_desktop.tasks.text.similarity import FEATURE_EXTRACTION, SENTENCE_SIMILARITY
from jarvis_desktop.tasks.text.word_counts import COUNT_WORDS
from jarvis_desktop.tasks.video import (
    IMAGE_TO_VIDEO,
    MUTE_VIDEO,
    TEXT_TO_VIDEO,
    VIDEO_CLASSIFICATION,
    VIDEO_TO_AUDIO,
    VIDEO_TO_IMAGE,
)
from jarvis_desktop.tasks.video_editing import VIDEO_EDITING

DEFINITIONS: tuple[Definition, ...] = (
    AUDIO_CLASSIFICATION, AUDIO_TO_AUDIO, ARRANGE_FILES, AUTOMATIC_SPEECH_RECOGNITION, CALCULATOR,
    CONTROL_TASKS["canny"], CHANCE, CHART, CLOCK, COLLECT_VALUES,
    *CONTROL_TEXT_TO_IMAGE, CONTROL_TASKS["depth"],
    CONVERT_FILE, COUNT_WORDS, CUT_FILE, DEPTH_ESTIMATION, DOCUMENT_QUESTION_ANSWERING,
    DOCUMENT_TO_TEXT, EDIT_TABLE, FEATURE_EXTRACTION, FILE_DETAILS, FILL_MASK, FORGET,
    CONTROL_TASKS["hed"], HELP, IMAGE_CLASSIFICATION,
    IMAGE_EDITING, IMAGE_SEGMENTATION, IMAGE_TO_IMAGE, IMAGE_TO_TEXT, IMAGE_TO_VIDEO, INPAINTING,
    JOIN_FILES, KEYWORD_EXTRACTION, LANGUAGE_IDENTIFICATION, LINE_EDITING, LISTS, MASK_GENERATION,
    CONTROL_TASKS["mlsd"], MUTE_VIDEO,
    CONTROL_TASKS["normal"], OBJECT_DETECTION, OPEN_FILE, OPEN_FOLDER, CONTROL_TASKS["openpose"],
    QUESTION_ANSWERING, REMEMBER, REPEAT, SAVE_FILE, CONTROL_TASKS["scribble"],
    CONTROL_TASKS["seg"], SENTENCE_SIMILARITY, SPELL, STOP, SUMMARIZATION, TABLE_QUESTION_ANSWERING,
    TABULAR_CLASSIFICATION, TEXT_CLASSIFICATION, DIFFERENCES, TEXT_GENERATION, TEXT_TO_AUDIO,
    TEXT_TO_IMAGE, TEXT_TO_SPEECH, TEXT_TO_VIDEO, THIS_COMPUTER, TIMER, TOKEN_CLASSIFICATION,
    TRANSLATION,
    TYPED_WORDS, VIDEO_CLASSIFICATION, VIDEO_EDITING, VIDEO_TO_AUDIO, VIDEO_TO_IMAGE,
    VISUAL_QUESTION_ANSWERING,
    ZERO_SHOT_CLASSIFICATION, ZERO_SHOT_IMAGE_CLASSIFICATION, ZERO_SHOT_OBJECT_DETECTION,
)  # fmt: skip

INVENTORY = tuple(definition.type for definition in DEFINITIONS)

ACTING = frozenset(task_type.name for task_type in INVENTORY if task_type.acts)
"""The tasks that have effects outside of the artifact store."""

INSTANT = frozenset(item.type.name for item in DEFINITIONS if item.skill and not item.type.ports)
"""The tasks that the application does at once, by the words of the request alone: the time, sums,
timers."""
