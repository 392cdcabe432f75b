"""People search for experts in their own words, in each language of the window."""

from __future__ import annotations

import pytest

from jarvis_desktop.core.expert import Expert
from jarvis_desktop.experts import catalogue
from jarvis_desktop.experts.expert_words import find
from jarvis_desktop.paths import shipped

SEARCHES = """\
transcribe|automatic-speech-recognition
speech to text|automatic-speech-recognition
write down what is said in a recording|automatic-speech-recognition
subtitles|automatic-speech-recognition
dictation|automatic-speech-recognition
german speech recognition|automatic-speech-recognition
read aloud|text-to-speech
text to speech|text-to-speech
german voice|text-to-speech|mms-tts-de
remove background|image-segmentation
cut out a person from a photo|image-segmentation
translate to German|translation|opus-mt-en-de
translate German into English|translation|opus-mt-de-en
translator|translation
english to french|translation|opus-mt-en-fr
summarize|summarization
shorten a long article|summarization
describe pictures|image-to-text
photo captions|image-to-text
ocr|image-to-text
read handwriting|image-to-text|trocr-handwritten
draw a picture|text-to-image
generate images|text-to-image
ai art|text-to-image
edit photos|image-editing
remove an object from a photo|inpainting
make a video from text|text-to-video
animate a picture|image-to-video
make music|text-to-audio
what is in this picture|image-classification,visual-question-answering,image-to-text
find objects|object-detection
count cars|object-detection,zero-shot-object-detection
how far away things are|depth-estimation
positive or negative review|text-classification
emotions in text|text-classification|emotions
sort emails by topic|zero-shot-classification
names of people in a text|token-classification
chatbot|text-generation
write an email|text-generation
ask questions about a PDF|document-question-answering
questions about a table|table-question-answering
compare the meaning of sentences|sentence-similarity
semantic search|feature-extraction,sentence-similarity
remove noise from a recording|audio-to-audio
what bird is singing|audio-classification
music genre|audio-classification|music-genres
whisper|automatic-speech-recognition|whisper-tiny,whisper-base,whisper-small,whisper-turbo,distil-whisper,whisper-large
stable diffusion|text-to-image|stable-diffusion-1.5
transkribieren|automatic-speech-recognition
Sprache in Text|automatic-speech-recognition
Aufnahme abtippen|automatic-speech-recognition
Untertitel|automatic-speech-recognition
vorlesen|text-to-speech
deutsche Stimme|text-to-speech|mms-tts-de
Hintergrund entfernen|image-segmentation
Freistellen|image-segmentation
ins Deutsche übersetzen|translation|opus-mt-en-de
Übersetzer|translation
zusammenfassen|summarization
Bilder malen|text-to-image
Bilder beschreiben|image-to-text
Handschrift lesen|image-to-text|trocr-handwritten
Fotos bearbeiten|image-editing
Musik machen|text-to-audio
Gegenstände erkennen|object-detection
Stimmung eines Textes|text-classification
Fragen zu einem PDF|document-question-answering
Rauschen entfernen|audio-to-audio
Video erzeugen|text-to-video
转写|automatic-speech-recognition
语音转文字|automatic-speech-recognition
语音识别|automatic-speech-recognition
字幕|automatic-speech-recognition
朗读|text-to-speech
文字转语音|text-to-speech
去除背景|image-segmentation
抠图|image-segmentation
翻译成德语|translation|opus-mt-en-de
翻译|translation
总结文章|summarization
画画|text-to-image
生成图片|text-to-image
描述图片|image-to-text
识别图片中的文字|image-to-text
修改照片|image-editing
生成视频|text-to-video
作曲|text-to-audio
降噪|audio-to-audio
情感分析|text-classification
聊天|text-generation
convert voice memos to text|automatic-speech-recognition
closed captions|automatic-speech-recognition
let it read my article to me|text-to-speech
natural voice|text-to-speech
how do I say this in Spanish|translation|opus-mt-en-es
japanese translation|translation
make it shorter|summarization
tl;dr|summarization
what does this letter say|image-to-text,visual-question-answering,document-question-answering
scan receipts|image-to-text
read my handwriting|image-to-text|trocr-handwritten
make a portrait|text-to-image
change the sky in my photo|image-editing,inpainting
delete a person from a picture|inpainting
turn my photo into a cartoon|image-to-image,image-editing
short film from a sentence|text-to-video
moving picture from a photo|image-to-video
song generator|text-to-audio
which plant is this|image-classification
how many people are in the photo|object-detection
transparent png|image-segmentation
is this customer angry|text-classification
extract company names|token-classification
help me write|text-generation
search my notes by meaning|feature-extraction,sentence-similarity
which of these texts are the same|sentence-similarity
clean audio|audio-to-audio
separate the singer from the music|audio-to-audio
recognize bird calls|audio-classification
Sprachmemos verschriftlichen|automatic-speech-recognition
Text vorlesen lassen|text-to-speech
Spanisch Übersetzung|translation|opus-mt-en-es,opus-mt-es-en
Artikel kürzen|summarization
Kassenzettel scannen|image-to-text
Porträt zeichnen|text-to-image
Person aus Bild löschen|inpainting
Lied komponieren|text-to-audio
Leute zählen|object-detection
Störgeräusche filtern|audio-to-audio
Kundenbewertungen|text-classification
Englisch nach Deutsch|translation|opus-mt-en-de
录音转成文字|automatic-speech-recognition
把文章读出来|text-to-speech
英译中|translation
缩写文章|summarization
给照片去掉背景|image-segmentation
画一只猫|text-to-image
数一数有几个人|object-detection
写一首歌|text-to-audio
给视频加字幕|automatic-speech-recognition
识别手写字|image-to-text
"""
"""What is typed, the tasks that may come first, and the experts if only these will do."""


@pytest.fixture(scope="module")
def experts() -> tuple[Expert, ...]:
    return catalogue.load(shipped("models", "experts"))


def test_the_first_result_is_what_was_meant(experts: tuple[Expert, ...]) -> None:
    rows = [line.split("|") for line in SEARCHES.splitlines()]
    missed = []
    for typed, tasks, *ids in rows:
        first = next(iter(find(typed, experts)), None)
        wanted = set(tasks.split(","))
        if (
            first is None
            or wanted.isdisjoint({first.task, *first.also})
            or (ids and first.id not in ids[0].split(","))
        ):
            missed.append((typed, first and first.id))
    assert len(rows) > 130
    assert len(missed) <= len(rows) // 25, missed


@pytest.mark.parametrize(
    ("typed", "tasks"),
    [
        ("transcribe", {"automatic-speech-recognition"}),
        ("translate to German", {"translation"}),
        ("抠图", {"image-segmentation"}),
        ("文字转语音", {"text-to-speech"}),
    ],
)
def test_nothing_else_is_among_the_results(
    experts: tuple[Expert, ...], typed: str, tasks: set[str]
) -> None:
    found = find(typed, experts)
    assert found
    assert all({each.task, *each.also} & tasks for each in found), [each.id for each in found]


def test_a_named_language_is_known_by_all_that_is_found(experts: tuple[Expert, ...]) -> None:
    for typed in ("French voice", "französische Stimme", "法语朗读"):
        found = find(typed, experts)
        assert found[0].id == "mms-tts-fr"
        assert all({"fr", "*"} & set(each.languages) for each in found if each.languages)
    assert next(each.id for each in find("Deutsch Englisch", experts)) == "opus-mt-de-en"


def test_those_that_fit_alike_stay_in_order_and_a_name_is_found(
    experts: tuple[Expert, ...],
) -> None:
    assert find("", experts) == list(experts)
    assert find("?!", experts) == list(experts)
    assert find("qqqqxyz", experts) == []
    assert find("whisper-small", experts)[0].id == "whisper-small"
    assert find("transcribe", experts[::-1])[0] != find("transcribe", experts)[0]
