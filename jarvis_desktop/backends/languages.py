"""Names and codes of the languages that translators know, and which one a text is in."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import lru_cache, partial

from jarvis_desktop.apart import Apart
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.wording import tr

log = logging.getLogger(__name__)

# Name, ISO 639-1 code, code of NLLB-200 (FLORES-200).
_TABLE = """
afrikaans af afr_Latn|arabic ar arb_Arab|bengali bn ben_Beng|bulgarian bg bul_Cyrl
catalan ca cat_Latn|chinese zh zho_Hans|croatian hr hrv_Latn|czech cs ces_Latn
danish da dan_Latn|dutch nl nld_Latn|english en eng_Latn|estonian et est_Latn
finnish fi fin_Latn|french fr fra_Latn|german de deu_Latn|greek el ell_Grek
gujarati gu guj_Gujr|hebrew he heb_Hebr|hindi hi hin_Deva|hungarian hu hun_Latn
icelandic is isl_Latn|indonesian id ind_Latn|irish ga gle_Latn|italian it ita_Latn
japanese ja jpn_Jpan|korean ko kor_Hang|latvian lv lvs_Latn|lithuanian lt lit_Latn
macedonian mk mkd_Cyrl|malay ms zsm_Latn|marathi mr mar_Deva|norwegian no nob_Latn
persian fa pes_Arab|polish pl pol_Latn|portuguese pt por_Latn|punjabi pa pan_Guru
romanian ro ron_Latn|russian ru rus_Cyrl|serbian sr srp_Cyrl|slovak sk slk_Latn
slovenian sl slv_Latn|spanish es spa_Latn|swahili sw swh_Latn|swedish sv swe_Latn
tamil ta tam_Taml|telugu te tel_Telu|thai th tha_Thai|turkish tr tur_Latn
ukrainian uk ukr_Cyrl|urdu ur urd_Arab|vietnamese vi vie_Latn|welsh cy cym_Latn
"""
_ROWS = [row.split() for line in _TABLE.strip().splitlines() for row in line.split("|")]
CODES = {name: code for name, code, _ in _ROWS}
NAMES = {code: name.capitalize() for name, code, _ in _ROWS}
FLORES = {code: flores for _, code, flores in _ROWS}

ENOUGH = 5000
"""Characters of a text that are looked at."""
CERTAIN = 10.0
"""By how much, in natural logarithms, another language must be likelier to rule one out."""


def code_of(language: str) -> str:
    """The ISO 639-1 code of a language given by its English name or code."""
    wanted = language.strip().casefold()
    if wanted in NAMES:
        return wanted
    if wanted in CODES:
        return CODES[wanted]
    raise InputError(
        tr("{language} is not a language that is known here.", language=language),
        hint=tr("Known are: {values}.", values=", ".join(NAMES.values())),
    )


def code_of_text(text: str) -> str:
    """The likeliest language of a text, as its code."""
    import py3langid

    code = str(py3langid.classify(text[:ENOUGH])[0])
    return "no" if code in ("nb", "nn") else code


def is_clearly_not(text: str, code: str) -> bool:
    """Whether a text is in another language without a doubt; short texts never are."""
    return _rules_out(ranked(text[:ENOUGH]), code)


def ranked(text: str) -> dict[str, float]:
    """How likely each language is, as a natural logarithm."""
    import py3langid

    return {str(each): float(score) for each, score in py3langid.rank(text)}


def _rules_out(ranks: Mapping[str, float], code: str) -> bool:
    return code in ranks and max(ranks.values()) - ranks[code] > CERTAIN


class ApartLanguages:
    """`is_clearly_not` by a process of its own: what tells languages takes 80 MB."""

    def __init__(self, apart: Apart) -> None:
        self._asked = partial(apart.call, f"{__name__}:ranked")
        self._ranked = lru_cache(maxsize=8)(self._asked)

    def warm(self) -> None:
        """Load what tells them. Raises JarvisError."""
        self._asked("warm")

    def is_clearly_not(self, text: str, code: str) -> bool:
        """The same; nothing is ruled out where it cannot be told. Waits for the other process."""
        try:
            return _rules_out(self._ranked(text[:ENOUGH]), code)
        except JarvisError as error:
            log.info("The language of a text cannot be told: %s", error.message)
            return False
