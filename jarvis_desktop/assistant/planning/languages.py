"""Notices a request in another language, to answer in it that only English is planned so far."""

from __future__ import annotations

import re

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
    "de": "Ohne Sprachmodell verstehe ich Aufträge bisher nur auf Englisch, zum Beispiel: "
    "“Read the text in this picture”.",
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
    "zh": "没有语言模型时，我目前只能听懂英语的请求，例如：“Read the text in this picture”。",
    "ja": "言語モデルがない間は、英語の依頼だけが分かります。例：“Read the text in this picture”。",
    "ko": "언어 모델이 없으면 지금은 영어 요청만 이해합니다. 예: “Read the text in this picture”.",
    "ru": "Без языковой модели я пока понимаю только просьбы на английском, например: "
    "“Read the text in this picture”.",
    "ar": "بدون نموذج لغوي أفهم حاليًا الطلبات بالإنجليزية "
    "فقط، مثل: “Read the text in this picture”.",
    "hi": "भाषा मॉडल के बिना मैं अभी केवल अंग्रेज़ी में अनुरोध समझता हूँ, जैसे: “Read the text in this picture”।",
}

_english = frozenset(
    "the a an is it this that what to of in and for on you me my with please can how".split()
)


def other_language(text: str) -> str | None:
    """A sentence in the language of `text` where that is not English; None where it may be."""
    for code, script in _scripts:
        if len(re.findall(script, text)) >= 2:
            return _answers[code]
    words = set(re.findall(r"[^\W\d_]+", text.lower()))
    own = len(words & _english)
    counts = {code: len(words & set(known.split())) for code, known in _function_words.items()}
    best = max(counts, key=lambda code: counts[code])
    return _answers[best] if counts[best] >= 2 and counts[best] > own else None
