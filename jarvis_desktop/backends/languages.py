"""Names and codes of the languages that translators know, and which one a text is in."""

from __future__ import annotations

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.wording import tr

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

    code = str(py3langid.classify(text[:5000])[0])
    return "no" if code in ("nb", "nn") else code


def is_clearly_not(text: str, code: str) -> bool:
    """Whether a text is in another language without a doubt; short texts never are."""
    import py3langid

    ranked = {str(each): float(score) for each, score in py3langid.rank(text[:5000])}
    return code in ranked and max(ranked.values()) - ranked[code] > CERTAIN
