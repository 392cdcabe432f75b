"""German words of questions about tables, and of column names, in English: `table_words.py` and the
others read one language.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache

_NOUNS = {
    german: english
    for english, listed in {
        "price": "preis", "revenue": "umsatz", "city": "stadt", "customer": "kunde kundin",
        "product": "produkt", "item": "artikel", "quantity": "menge stückzahl stück anzahl",
        "amount": "betrag", "date": "datum", "category": "kategorie", "salary": "gehalt lohn",
        "department": "abteilung", "employee": "mitarbeiter mitarbeiterin angestellte",
        "order": "bestellung auftrag", "expense": "ausgabe", "income": "einnahme einkommen",
        "profit": "gewinn", "cost": "kosten", "sale": "verkauf", "weight": "gewicht",
        "area": "fläche", "population": "einwohner bevölkerung", "temperature": "temperatur",
        "points": "punkte", "invoice": "rechnung", "payment": "zahlung", "flight": "flug",
        "student": "schüler schülerin", "class": "klasse", "subject": "schulfach",
        "delay": "verspätung", "distance": "entfernung strecke", "duration": "dauer laufzeit",
        "month": "monat", "year": "jahr", "week": "woche", "quarter": "quartal",
        "weekday": "wochentag", "hour": "stunde", "country": "staat", "street": "straße",
        "supplier": "lieferant", "share": "anteil", "height": "höhe körpergröße",
        "unit": "einheit", "consumption": "verbrauch", "yield": "ertrag", "goal": "tor",
        "game": "spiel", "driver": "fahrer fahrerin", "bed": "beet",
        "rain": "niederschlag regen", "rating": "bewertung", "thing": "sache gerät ding",
        "woman": "frau", "man": "mann", "member": "mitglied",
        "joined": "eintritt beitritt eingetreten",
    }.items()
    for german in listed.split()
}  # fmt: skip
"""Nouns that no English table has."""
_WORDS = {
    german: english
    for english, listed in {
        "the": "der die das des den dem ein eine einen einer eines einem", "and": "und",
        "or": "oder", "of": "von vom", "from": "aus ab", "in": "im am", "for": "für", "by": "nach",
        "with": "mit", "without": "ohne", "not": "nicht kein keine keinen", "per": "pro je",
        "each": "jede jeder jedes jeden jedem jeweils", "which": "welche welcher welches welchen "
        "welchem", "what": "was", "who": "wer", "when": "wann", "where": "wo", "has": "hat",
        "have": "habe haben hast habt", "had": "hatte hatten", "is": "ist", "are": "sind",
        "was": "war wurde",
        "were": "waren wurden", "sum": "summe gesamtsumme", "average": "durchschnitt "
        "mittelwert mittlere mittlerer mittleren durchschnittliche durchschnittlicher "
        "durchschnittlichen durchschnittlich",
        "total": "gesamt insgesamt gesamte", "percent": "prozent",
        "highest": "höchste höchster höchsten höchstes", "lowest": "niedrigste niedrigster "
        "niedrigsten tiefste tiefsten", "largest": "größte größter größten größtes",
        "smallest": "kleinste kleinster kleinsten", "most": "meiste meisten", "since": "seit",
        "fewest": "wenigste wenigsten", "most expensive": "teuerste teuersten teuerster",
        "cheapest": "billigste billigsten günstigste günstigsten", "oldest": "älteste ältesten",
        "youngest": "jüngste jüngsten", "longest": "längste längsten", "until": "bis",
        "shortest": "kürzeste kürzesten", "best": "beste besten bester", "worst": "schlechteste "
        "schlechtesten", "first": "erste ersten", "last": "letzte letzten", "show": "zeige zeig",
        "list": "liste nenne", "rows": "zeile zeilen einträge", "day": "tag tage tagen",
        "country": "land länder ländern", "age": "alter", "between": "zwischen", "over": "über",
        "under": "unter", "before": "vor", "at least": "mindestens", "at most": "höchstens",
        "more": "mehr", "less": "weniger", "than": "als", "different": "verschiedene "
        "unterschiedliche", "there": "es", "grade": "note noten", "2": "zwei", "3": "drei",
        "4": "vier", "5": "fünf", "6": "sechs", "7": "sieben", "8": "acht", "9": "neun",
        "10": "zehn", "january": "januar", "february": "februar", "march": "märz", "may": "mai",
        "june": "juni", "july": "juli", "october": "oktober", "december": "dezember",
        "monday": "montag", "tuesday": "dienstag", "wednesday": "mittwoch",
        "thursday": "donnerstag", "friday": "freitag", "saturday": "samstag sonnabend",
        "sunday": "sonntag", "second": "zweite zweiten zweiter zweites",
        "third": "dritte dritten dritter drittes", "fourth": "vierte vierten viertes",
        "half": "hälfte halbjahr", "i": "ich", "we": "wir", "my": "mein meine meiner meinen",
        "our": "unser unsere unserer", "still": "noch", "spent": "ausgegeben",
        "used": "verbraucht verbrauchen", "sold": "verkauft", "to": "an", "on": "auf",
        "earn": "verdient verdienen verdiene", "driven": "gefahren", "harvested": "geerntet",
        "at": "bei", "cost": "kostet kosten gekostet", "altogether": "zusammen",
        "got": "bekommen bekommt", "made": "gemacht", "happened": "stehen steht läuft laufen schon",
        "live": "wohnen wohnt lebt leben", "work": "arbeiten arbeitet", "all": "alle aller allen",
        "only": "nur", "belong": "entfallen entfällt", "newest": "neueste neuesten neuester",
        "latest": "späteste spätesten", "earliest": "früheste frühesten",
        "higher": "höher höhere höheren höherer", "lower": "niedriger niedrigere",
        "cheaper": "billiger günstiger", "expensive": "teuer",
        "more expensive": "teurer", "compare": "vergleiche", "older": "älter ältere",
        "younger": "jünger jüngere", "difference": "unterschied differenz",
        "other": "andere anderen anderer", "heaviest": "schwerste schwersten",
        "tallest": "größter", "monthly": "monatlich monatliche", "yearly": "jährlich jährliche",
    }.items()
    for german in listed.split()
}  # fmt: skip
_PHRASES = (
    (r"\bwie viel(?:en?)\b|\bwieviele\b", "how many"),
    (r"\bwie viel\b|\bwieviel\b", "how much"), (r"\bwie oft\b", "how often"),
    (r"\b(?:be|er)?rechne\b(?: mir)?(.+?)\baus\b(?=\W*$)", r"calculate\1"),
    (r"\b(?:be|er)rechne\b", "calculate"),
    (r"\b(?:zahle|rechne)\b(.+?)\bzusammen\b", r"sum of\1"),
    (r"\b(?:addiere|summiere)\b", "sum of"),
    (r"\bper (?!monat|jahr|woche|tag|stunde)", "with "),
    (r"\b(?:fehlt|fehlen)\b", "missing"), (r"\bim (?:schnitt|mittel)\b", "average"),
    (r"\bgibt es\b", "are there"), (r"\bgab es\b|\bes gab\b", "were there"),
    (r"\bam (?=\w+sten\b)", ""), (r"\bim jahre?\b", "in"),
    (r"\bwie (?:hoch|groß|teuer)\b", "what"), (r"\banzahl(?: (?:der|von|aller))?\b", "number of"),
    (r"\bweder (.+?) noch\b", r"neither \1 nor"),
    (r"\bmit (\S+) (?:beginn|anfang)\w*", r"starting with \1"),
    (r"\bmit (\S+) end(?:en|et)\b", r"ending with \1"),
    (r"(\S+) (?:im namen )?enthal(?:ten|t)\b", r"containing \1"),
    (r"\bhalfte (?:von|des)\b", "half of"),
    (r"\bnach(?= (?:dem )?\d)", "after"), (r"\bdurchschnitts(?=\w{3})", "average "),
    (r"\bgesamt(?=\w{4})", "total "), (r"\bmedian(?=\w{3})", "median "),
    (r"\bhochst(?!e)(?=\w{4})", "highest "), (r"\b(?:tiefst|mindest)(?!e)(?=\w{4})", "lowest "),
)  # fmt: skip
_ENDINGS = ("", "s", "e", "n", "es", "en", "er", "ern", "nen")
_german = re.compile(
    r"\b(?:je|bei|nach|und|der|das|den|von|des|dem|wie|welche\w?|ist|sind|hat|gibt|summe|anzahl|pro|nenne|"
    r"zwei|drei|vier|funf|zehn|insgesamt|wann|wer|wo|ich|wir|habe|haben|fur|mit|ohne|nicht|keine?|zeige?|welcher|wurden?|kostet|alle|"
    r"(?:letzte|erste)\w?|(?:gro(?:ß|ss)t|gunstigst|kleinst|altest|jungst|neuest|wenigst)\w*|(?:durchschnitt|gesamt|hochst|mittler|niedrigst|meist|teuerst|billigst)\w*|im|vom|uber|seit)\b"
)
_UMLAUTS = str.maketrans("äöü", "aou")


@cache
def _folded(nouns: bool) -> dict[str, str]:
    words = _NOUNS if nouns else _WORDS
    return {german.translate(_UMLAUTS): english for german, english in words.items()}


def noun_in_english(word: str) -> str:
    """Return a folded word in English if it is a German noun, in any form, else as it is."""
    known = _folded(nouns=True)
    bare = (word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending))
    return next((known[part] for part in bare if part in known), word)


def in_english(question: str, names: Collection[str]) -> str:
    """Return a folded question with its German words in English, except `names` of columns."""
    if _german.search(question):
        for form, english in _PHRASES:
            question = re.sub(form, english, question)
        words = _folded(nouns=False)
        question = re.sub(
            r"[^\W\d_]+",
            lambda found: found[0] if found[0] in names else words.get(found[0], found[0]),
            question,
        )
    return re.sub(
        r"(?<!starting with )(?<!ending with )(?<!containing )\b[^\W\d_]+",
        lambda found: noun_in_english(found[0]),
        question,
    )
