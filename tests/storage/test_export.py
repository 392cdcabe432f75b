import json
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.turn import Conversation
from jarvis_desktop.storage.export import FORMATS, ExportedConversation, exported
from tests.storage.samples import full_turn, small_turn

GIVEN = Artifact(Kind.IMAGE, path=Path("/store/ab/abc.png"), name="scan\n1.png")
MADE = Artifact(Kind.AUDIO, path=Path("/store/cd/cde.wav"), name="hello.wav")
TURNS = (full_turn("t1", GIVEN, MADE), small_turn("t2", "thanks"))
CONVERSATION = ExportedConversation(Conversation("c1", TURNS), "Read this scan and say it")

ODD = Conversation("c", (small_turn("t", "\ud800"),))

TEXT = """\
[2026-03-01 12:00] Read this scan and say it
  - given: scan 1.png
  - read done: The quick brown fox
  - sum-up failed: too short
  - speak done: hello.wav (/store/cd/cde.wav)
Here you are.

[2026-03-01 12:00] thanks
Hi.
"""

MARKDOWN = """\
# Read this scan and say it

## 2026-03-01 12:00

> Read this scan and say it

- given: scan 1.png
- read done: The quick brown fox
- sum\\-up failed: too short
- speak done: hello.wav \\(/store/cd/cde.wav\\)

Here you are.

## 2026-03-01 12:00

> thanks


Hi.
"""


def test_plain_text():
    assert exported([CONVERSATION], "text") == f"{TEXT}\n"


def test_markdown():
    assert exported([CONVERSATION], "markdown") == f"{MARKDOWN}\n"


def test_json_has_everything():
    document = json.loads(exported([CONVERSATION], "json"))
    [conversation] = document["conversations"]
    assert conversation["id"] == "c1"
    [turn, _] = conversation["turns"]
    assert turn["plan"][1]["dep"] == [1]
    assert turn["results"]["3"]["artifacts"][0]["path"] == "/store/cd/cde.wav"


def test_markup_in_a_turn_stays_text():
    turn = small_turn("t", "# <script>x</script>\n![a](http://b)", reply="<img src=x> **b**")
    text = exported([ExportedConversation(Conversation("c", (turn,)), turn.text)], "markdown")
    assert r"> \# \<script\>x\</script\>" in text
    assert r"> \!\[a\]\(http://b\)" in text
    assert r"\<img src=x\> \*\*b\*\*" in text


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_to_export_and_odd_characters_are_no_fault(form: str):
    assert exported([], form) is not None
    assert exported([ExportedConversation(ODD, "\ud800")], form).encode()


def test_another_form_is_refused():
    with pytest.raises(InputError, match="exported as x�ml") as caught:
        exported([], "x\x07ml")
    assert "json, markdown, text" in caught.value.hint
