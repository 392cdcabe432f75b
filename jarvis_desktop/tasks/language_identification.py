"""Says which language a text is in. Runs in a child process."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="language-identification",
    summary="Says which language a text is in.",
    ports=(Port("text", (Kind.TEXT,)),),
    gives=(Kind.TEXT,),
    cues=(
        "what language", "which language", "detect the language", "language is", "language of",
        "identify the language", "language detection", "is this french", "is this german",
        "is this spanish", "is this italian", "in what language",
    ),
)  # fmt: skip

ENOUGH = 20_000
"""Characters that are looked at; more change nothing."""
SURE = 0.8
GUESS = 0.4

NAMES = dict(
    pair.split(":")
    for pair in """af:Afrikaans am:Amharic an:Aragonese ar:Arabic as:Assamese az:Azerbaijani
    be:Belarusian bg:Bulgarian bn:Bengali br:Breton bs:Bosnian ca:Catalan cs:Czech cy:Welsh
    da:Danish de:German dz:Dzongkha el:Greek en:English eo:Esperanto es:Spanish et:Estonian
    eu:Basque fa:Persian fi:Finnish fo:Faroese fr:French ga:Irish gl:Galician gu:Gujarati
    he:Hebrew hi:Hindi hr:Croatian ht:Haitian hu:Hungarian hy:Armenian id:Indonesian
    is:Icelandic it:Italian ja:Japanese jv:Javanese ka:Georgian kk:Kazakh km:Khmer kn:Kannada
    ko:Korean ku:Kurdish ky:Kyrgyz la:Latin lb:Luxembourgish lo:Lao lt:Lithuanian lv:Latvian
    mg:Malagasy mk:Macedonian ml:Malayalam mn:Mongolian mr:Marathi ms:Malay mt:Maltese nb:Norwegian
    ne:Nepali nl:Dutch nn:Norwegian no:Norwegian oc:Occitan or:Odia pa:Punjabi pl:Polish
    ps:Pashto pt:Portuguese qu:Quechua ro:Romanian ru:Russian rw:Kinyarwanda se:Sami si:Sinhala
    sk:Slovak sl:Slovenian sq:Albanian sr:Serbian sv:Swedish sw:Swahili ta:Tamil te:Telugu
    th:Thai tl:Tagalog tr:Turkish ug:Uyghur uk:Ukrainian ur:Urdu vi:Vietnamese vo:Volapük
    wa:Walloon xh:Xhosa zh:Chinese zu:Zulu""".split()
)


@dataclass(frozen=True, slots=True)
class Language:
    """A language and how sure its recognition is, 0 to 1."""

    code: str
    confidence: float

    @property
    def name(self) -> str:
        """Its English name, or its code where we know no name."""
        return NAMES.get(self.code, self.code)


def tell(call: Call, report: Report) -> Iterable[Artifact]:
    """One line such as "French (1.00)". Raises InputError where there are no letters,
    ExpertError where it cannot be told."""
    text = call.text("text")
    if not any(sign.isalpha() for sign in text):
        raise InputError(tr("There are no words whose language could be told."))
    found = identify(text)
    if found.confidence < GUESS:
        raise ExpertError(tr("The text is too short or too mixed to tell its language."))
    doubt = "" if found.confidence >= SURE else ", a guess: the text is short or mixed"
    return [text_artifact(f"{found.name} ({found.confidence:.2f}{doubt})")]


def identify(text: str) -> Language:
    """The likeliest of 97 languages (Lui and Baldwin, "langid.py", ACL 2012)."""
    code, confidence = _identifier().classify(text[:ENOUGH])
    return Language(str(code), float(confidence))


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


DEFINITION = Definition(TYPE, method=tell, note="97 languages, by letter sequences (langid)")
