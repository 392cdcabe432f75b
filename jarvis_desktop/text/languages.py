"""Languages of texts: their names and codes, detection, and whether a text is English."""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, Literal

from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.text.tokens import FUNCTION_WORDS

FOREIGN = frozenset(
    "der die das und ist nicht ein eine einen mit auf für von zu den dem im es ich sie wir um am "
    "bei le la les un une des et est pas du dans que qui pour sur avec il elle nous vous au aux ce "
    "el los las una es por con para del al su lo il gli di che non sono della nel è é à å "
    "os um uma não em com de da dos het een niet voor op zijn naar och är inte som att "
    "på ett og ikke det af til nie na się jest że ja se ei".split()
)
ENGLISH = FUNCTION_WORDS - FOREIGN - {"no", "so", "me"}
"""Function words that do not occur in other languages."""

_WORD = re.compile(r"(?<![\w@/\\.-])[^\W\d_]{2,}(?![\w@/\\])|\b[aàèéiå]\b")
"""Single letters are mostly names of things: x, y, e."""
_ACCENTS = re.compile(r"[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]")
FIRST_OTHER = "\u0250"
"""Letters from here on are not Latin."""


def tongue(text: str) -> Literal["english", "foreign", "unclear"]:
    """Judge a text by its function words; without any, by accents and scripts."""
    words = _WORD.findall(text.lower())
    english = sum(map(ENGLISH.__contains__, words))
    foreign = sum(map(FOREIGN.__contains__, words))
    if english != foreign:
        return "english" if english > foreign else "foreign"
    if english or text.isascii():
        return "unclear"
    letters = [letter for letter in text if letter.isalpha()]
    other = sum(letter >= FIRST_OTHER for letter in letters)
    if other * 2 > len(letters) or _ACCENTS.search(text):
        return "foreign"
    return "unclear"


_scripts = (
    ("ja", r"[\u3040-\u30ff]"),
    ("ko", r"[\uac00-\ud7af]"),
    ("zh", r"[\u4e00-\u9fff]"),
    ("ru", r"[\u0400-\u04ff]"),
    ("ar", r"[\u0600-\u06ff]"),
    ("hi", r"[\u0900-\u097f]"),
)

_function_words = {
    "de": "der die das und ist ein eine einen mir mich bitte wie "
    "was den dem zu nicht auf für ich dieses diesen",
    "fr": "le la les un une et est ce cette moi quel quelle "
    "que pour dans des du je s'il vous avec texte",
    "es": "el la los las un una y es este esta por favor "
    "qué cómo para en de mi que con texto imagen",
    "it": "il lo la gli un una e è questo questa per favore "
    "che cosa come nel di mi con testo immagine",
    "pt": "o a os as um uma e é este esta por favor que como para em de me com texto imagem",
    "nl": "de het een en is dit deze alsjeblieft wat hoe voor in van mij met tekst niet",
}

_answers = {
    "de": "Ohne Sprachmodell verstehe ich auf Deutsch nur einfache Aufträge, zum Beispiel: „Fasse "
    "diesen Text zusammen“ oder „Lies den Text in diesem Bild vor“.",
    "fr": "Sans modèle de langage, je ne comprends pour l’instant que les demandes en anglais, "
    "par exemple : “Read the text in this picture”.",
    "es": "Sin un modelo de lenguaje, por ahora solo entiendo peticiones en inglés, por ejemplo: "
    "“Read the text in this picture”.",
    "it": "Senza un modello linguistico per ora capisco solo richieste in inglese, per esempio: "
    "“Read the text in this picture”.",
    "pt": "Sem um modelo de linguagem, por enquanto só entendo pedidos em inglês, por exemplo: "
    "“Read the text in this picture”.",
    "nl": "Zonder taalmodel begrijp ik voorlopig alleen verzoeken in het Engels, bijvoorbeeld: "
    "“Read the text in this picture”.",
    "zh": "没有语言模型时，我只能听懂简单的中文请求，例如：“总结这篇文章”或“识别图片中的文字”。",
    "ja": "言語モデルがない間は、英語の依頼だけが分かります。例：“Read the text in this picture”。",
    "ko": "언어 모델이 없으면 지금은 영어 요청만 이해합니다. 예: “Read the text in this picture”.",
    "ru": "Без языковой модели я пока понимаю только просьбы на английском, например: "
    "“Read the text in this picture”.",
    "ar": "بدون نموذج لغوي أفهم حاليًا الطلبات بالإنجليزية "
    "فقط، مثل: “Read the text in this picture”.",
    "hi": "भाषा मॉडल के बिना मैं अभी केवल अंग्रेज़ी में अनुरोध समझता हूँ, जैसे: “Read the text in this picture”।",
}


def other_language(text: str) -> str | None:
    """Return a notice in the language of `text`, or None if the text may be English."""
    for code, script in _scripts:
        if len(re.findall(script, text)) >= 2:
            return _answers[code]
    words = set(re.findall(r"[^\W\d_]+", text.lower()))
    own = len(words & FUNCTION_WORDS)
    counts = {code: len(words & set(known.split())) for code, known in _function_words.items()}
    best = max(counts, key=lambda code: counts[code])
    return _answers[best] if counts[best] >= 2 and counts[best] > own else None


def is_foreign(text: str) -> bool:
    """Return whether a request is clearly not in English."""
    return tongue(text) == "foreign" or other_language(text) is not None


log = logging.getLogger(__name__)

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
"""English names by ISO 639-1 code."""
FLORES = dict(
    pair.split(":")
    for pair in """af:afr_Latn ar:arb_Arab bn:ben_Beng bg:bul_Cyrl ca:cat_Latn zh:zho_Hans
    hr:hrv_Latn
    cs:ces_Latn da:dan_Latn nl:nld_Latn en:eng_Latn et:est_Latn fi:fin_Latn fr:fra_Latn
    de:deu_Latn el:ell_Grek gu:guj_Gujr he:heb_Hebr hi:hin_Deva hu:hun_Latn is:isl_Latn
    id:ind_Latn ga:gle_Latn it:ita_Latn ja:jpn_Jpan ko:kor_Hang lv:lvs_Latn lt:lit_Latn
    mk:mkd_Cyrl ms:zsm_Latn mr:mar_Deva no:nob_Latn fa:pes_Arab pl:pol_Latn pt:por_Latn
    pa:pan_Guru ro:ron_Latn ru:rus_Cyrl sr:srp_Cyrl sk:slk_Latn sl:slv_Latn es:spa_Latn
    sw:swh_Latn sv:swe_Latn ta:tam_Taml te:tel_Telu th:tha_Thai tr:tur_Latn uk:ukr_Cyrl
    ur:urd_Arab vi:vie_Latn cy:cym_Latn""".split()
)
"""The codes of NLLB-200 for the languages that are translated, by ISO 639-1 code."""
CODES = {NAMES[code].casefold(): code for code in FLORES}
"""The codes of those by their names."""
COUNTRIES = {
    country: language
    for language, countries in {
        "french": "france", "spanish": "spain mexico chile argentina peru colombia cuba",
        "german": "germany austria", "italian": "italy", "chinese": "china taiwan",
        "japanese": "japan", "portuguese": "portugal brazil", "russian": "russia",
        "korean": "korea", "dutch": "holland", "polish": "poland", "swedish": "sweden",
        "greek": "greece", "turkish": "turkey", "vietnamese": "vietnam", "thai": "thailand",
        "norwegian": "norway", "danish": "denmark", "finnish": "finland", "arabic": "egypt",
    }.items()
    for country in countries.split()
}  # fmt: skip
"""The languages of countries, as in "how do they say hello in France"."""

MAX_TEXT_CHARS = 5000
"""Characters of a text that are examined."""
CERTAIN_MARGIN = 10.0
"""How much more likely, in natural logarithms, another language must be to rule one out."""


def code_of(language: str) -> str:
    """Return the ISO 639-1 code of a language given by its English name or code."""
    wanted = language.strip().casefold()
    if wanted in FLORES:
        return wanted
    if wanted in CODES:
        return CODES[wanted]
    raise InputError(
        tr("{language} is not a known language.", language=language),
        hint=tr("Known languages: {values}.", values=", ".join(map(str.capitalize, CODES))),
    )


def code_of_text(text: str) -> str:
    """Return the code of a text's most likely language."""
    code = str(_detector().classify(text[:MAX_TEXT_CHARS])[0])
    return "no" if code in ("nb", "nn") else code


def is_clearly_not(text: str, code: str) -> bool:
    """Whether a text is certainly in another language; short texts never are."""
    return _rules_out(ranked(text[:MAX_TEXT_CHARS]), code)


def ranked(text: str) -> dict[str, float]:
    """Return the log probability of each language."""
    return {str(each): float(score) for each, score in _detector().rank(text)}


def _rules_out(ranks: Mapping[str, float], code: str) -> bool:
    return code in ranks and max(ranks.values()) - ranks[code] > CERTAIN_MARGIN


class BackgroundLanguages:
    """Runs `is_clearly_not` in a separate process: the detector takes 80 MB."""

    def __init__(self, call: Callable[..., Any]) -> None:
        """`call` runs a function in another process by its dotted name."""
        self._asked = partial(call, f"{__name__}:ranked")
        self._ranked = lru_cache(maxsize=8)(self._asked)

    def warm(self) -> None:
        """Load the detector. Raises JarvisError."""
        self._asked("warm")

    def is_clearly_not(self, text: str, code: str) -> bool:
        """Do the same in the other process; False if it cannot answer. Blocks."""
        try:
            return _rules_out(self._ranked(text[:MAX_TEXT_CHARS]), code)
        except JarvisError as error:
            log.info("The language of a text cannot be told: %s", error.message)
            return False


LANGUAGES = (
    "ar", "bg", "ca", "cs", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr", "he", "hi", "hr",
    "hu", "id", "it", "ja", "ko", "lt", "lv", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sv",
    "ta", "tr", "uk", "vi", "zh",
)  # fmt: skip
MIN_CONFIDENCE = 0.9
MIN_LETTERS = 14
"""Shorter texts in Latin letters are mostly names and single words, which say little."""

MIN_ENGLISH_SHARE = 0.2


def plain_language(text: str) -> str | None:
    """Guess the language without a detector: "en", None if there is no evidence, else "?"."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    letters = "".join(words)
    if any(letter >= FIRST_OTHER for letter in letters):
        return "?"
    known = tongue(text)
    if known == "english" and sum(map(ENGLISH.__contains__, words)) >= MIN_ENGLISH_SHARE * len(
        words
    ):
        return "en"
    says_much = len(letters) >= MIN_LETTERS or not FOREIGN.isdisjoint(words)
    return "?" if says_much else None


def language_of(text: str) -> str | None:
    """Return the two-letter code of a text's language; None if it is unclear.

    Loads py3langid the first time, which takes a second: call plain_language first.
    """
    language, sureness = detector(LANGUAGES).classify(text)
    # For another script, any of its languages is better than English.
    latin = not re.search(r"[^\W\d_\u0000-\u024f]", text)
    return str(language) if sureness >= MIN_CONFIDENCE or not latin else None


@functools.cache
def _detector() -> Any:
    """Loads the weights: 80 MB, so once for all."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)


@functools.cache
def detector(languages: tuple[str, ...] | None = None) -> Any:
    """Return a detector of these languages, or of all 97, that also says how sure it is."""
    loaded = _detector()
    found = type(loaded)(
        *(loaded.nb_ptc, loaded.nb_pc, loaded.nb_classes, loaded.tk_nextmove, loaded.tk_output),
        norm_probs=True,
        tk_row=loaded.tk_row,
    )
    found.set_languages(languages)
    return found
