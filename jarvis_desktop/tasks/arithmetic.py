"""Turns the words of a sum into a formula and works it out, within limits: no formula may take
long or fill memory, and nothing but arithmetic is understood."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.wording import tr

Number = int | float

LARGEST_BITS = 4000
"""Whole numbers beyond this (1,200 digits) are refused before they are made."""

_SPOKEN: tuple[tuple[str, str], ...] = (
    (r"[×∙·]|(?<=[\d)])\s*x\s*(?=[\d(])", "*"),
    (r"÷", "/"),
    (r"[−–—]", "-"),
    (r"√", " sqrt "),
    (r"π", " pi "),
    (r"²", "**2"),
    (r"³", "**3"),
    (r"\^", "**"),
    (r"[$€£]", ""),
    (r"\b(\d+(?:\.\d+)?)\s*(?:%|percent|per cent)\s+(?:tip\s+)?(?:off|less than)\s+(?:of\s+)?"
     r"(\d+(?:\.\d+)?)", r"(\2-\2*\1/100)"),
    # "100 plus 20%" is 120 to everyone but a parser.
    (r"^(.+?)\s*(?:\bplus\b|\+)\s*(\d+(?:\.\d+)?)\s*(?:%|percent|per cent)$", r"(\1)*(1+\2/100)"),
    (r"^(.+?)\s*(?:\bminus\b|-)\s*(\d+(?:\.\d+)?)\s*(?:%|percent|per cent)$", r"(\1)*(1-\2/100)"),
    (r"\s*(?:%|\bpercent|\bper cent)(?:\s+tip)?\s+(?:of|on)\b", "/100*"),
    (r"\s*(?:%(?!\s*[\d(])|\bpercent\b|\bper cent\b)", "/100"),
    (r"\b(?:the )?(?:sum|total|addition) of (.+?) and (.+)", r"(\1)+(\2)"),
    (r"\b(?:the )?product of (.+?) and (.+)", r"(\1)*(\2)"),
    (r"\b(?:the )?difference (?:between|of) (.+?) and (.+)", r"(\1)-(\2)"),
    (r"\b(?:the )?(?:average|mean) of (.+?) and (.+)", r"((\1)+(\2))/2"),
    (r"\badd (.+?) (?:and|to) (.+)", r"(\2)+(\1)"),
    (r"\bsubtract (.+?) from (.+)", r"(\2)-(\1)"),
    (r"\bmultiply (.+?) (?:by|and|with) (.+)", r"(\1)*(\2)"),
    (r"\bdivide (.+?) by (.+)", r"(\1)/(\2)"),
    (r"\bhalf of\b", "0.5*"),
    (r"\b(?:twice|double)\b", "2*"),
    (r"\btriple\b", "3*"),
    (r"\b(?:the )?(?:square root|root)(?: of)?\b", " sqrt "),
    (r"\b(?:the )?(?:cube|cubic|third) root(?: of)?\b", " cbrt "),
    (r"\b(?:the )?natural log(?:arithm)?(?: of)?\b", " ln "),
    (r"\b(?:the )?log(?:arithm)?(?: of)?\b", " log "),
    (r"\b(?:the )?factorial of\b", " factorial "),
    (r"(\d+)\s*factorial\b|\b(\d+)\s*!", r" factorial(\1\2)"),
    (r"\b(?:the )?(sine|cosine|tangent)(?: of)?\b", r" \1 "),
    (r"\bdegrees\b", ""),
    (r"\bsquared\b|\bsquare\b(?! root)", "**2"),
    (r"\bcubed\b", "**3"),
    (r"\b(?:raised )?to the power (?:of )?|\braised to\b|\bto the (?=\d+(?:st|nd|rd|th)?\b)", "**"),
    (r"(\d+)(?:st|nd|rd|th)\b(?: power)?", r"\1"),
    (r"\b(?:divided by|over)\b", "/"),
    (r"\b(?:multiplied by|times|by)\b", "*"),
    (r"\b(?:plus|and|added to)\b", "+"),
    (r"\b(?:minus|less|take away|subtracted by)\b", "-"),
    (r"\b(?:modulo|mod|remainder of)\b", "%"),
    (r"\bnegative\b", "-"),
    (r"\bopen (?:bracket|parenthesis)\b", "("),
    (r"\bclosed? (?:bracket|parenthesis)\b", ")"),
    (r"\bof\b", "*"),
    (r"(?<=\d),(?=\d{3}\b)", ""),
    (r"\b(?:dollars?|euros?|pounds?|the|a)\b", ""),
)  # fmt: skip
_COMPILED = tuple((re.compile(spoken, re.IGNORECASE), sign) for spoken, sign in _SPOKEN)

_FUNCTIONS: dict[str, Callable[[float], Number]] = {
    "sqrt": math.sqrt,
    "cbrt": math.cbrt,
    "ln": math.log,
    "log": math.log10,
    "sine": lambda degrees: math.sin(math.radians(degrees)),
    "cosine": lambda degrees: math.cos(math.radians(degrees)),
    "tangent": lambda degrees: math.tan(math.radians(degrees)),
    "sin": lambda degrees: math.sin(math.radians(degrees)),
    "cos": lambda degrees: math.cos(math.radians(degrees)),
    "tan": lambda degrees: math.tan(math.radians(degrees)),
    "abs": abs,
    "round": round,
}
_CONSTANTS = {"pi": math.pi, "e": math.e}
_OPERATORS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def formula(words: str) -> str:
    """The sum in signs, from words whose numbers are already in digits."""
    text = words
    for spoken, sign in _COMPILED:
        text = spoken.sub(sign, text)
    # A function takes the number or bracket after it: "sqrt 625 + 1" is 26.
    names = "|".join((*_FUNCTIONS, "factorial"))
    text = re.sub(rf"\b({names})\s+(-?\d+(?:\.\d+)?|pi|e)\b", r"\1(\2)", text)
    return " ".join(text.split())


def value_of(text: str) -> Number:
    """What a formula comes to. Raises InputError with the reason where it comes to nothing."""
    try:
        return _checked(_value(ast.parse(text.strip(), mode="eval").body))
    except ZeroDivisionError as error:
        raise InputError(tr("Nothing can be divided by zero.")) from error
    except OverflowError as error:
        raise _too_large() from error
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise _not_a_sum() from error
    except ValueError as error:
        raise InputError(tr("That has no result among the real numbers.")) from error


def readable(value: Number, *, digits: int = 7) -> str:
    """A result as people write it: with commas, and rounded to `digits` where it goes on."""
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15):
        whole = int(value)
        if abs(whole) < 10**21:
            return f"{whole:,}"
        written = str(abs(whole))
        start = int(written[:5]) / (10**4 if whole > 0 else -(10**4))
        return f"about {start:g} times 10 to the {len(written) - 1}"
    if abs(value) >= 1e15 or abs(value) < 1e-4:
        mantissa, exponent = f"{value:.4e}".split("e")
        return f"about {float(mantissa):g} times 10 to the {int(exponent)}"
    near = round(value, max(0, digits - 1 - max(0, math.floor(math.log10(abs(value))))))
    # 0.1 + 0.2 is exact to a person; a third is not.
    exact = math.isclose(near, value, rel_tol=1e-12)
    return f"{'' if exact else 'about '}{near:,.10g}"


def _value(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _checked(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left), _value(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _checked(_OPERATORS[type(op)](_value(left), _value(right)))
        case ast.Call(func=ast.Name(id="factorial"), args=[argument], keywords=[]):
            return _factorial(_value(argument))
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in _FUNCTIONS:
            return _rounded(_FUNCTIONS[name](_value(argument)))
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
    raise _not_a_sum()


def _power(base: Number, exponent: Number) -> Number:
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and exponent > 0 and exponent * max(int(base).bit_length() - 1, 0) > LARGEST_BITS:
        raise _too_large()
    result = base**exponent
    if isinstance(result, complex):
        raise ValueError("complex")
    return _checked(result)


def _factorial(value: Number) -> Number:
    if value != int(value) or value < 0:
        raise InputError(tr("Only whole numbers from 0 have a factorial."))
    if value > 400:
        raise _too_large()
    return math.factorial(int(value))


def _checked(value: Number) -> Number:
    if isinstance(value, int) and value.bit_length() > LARGEST_BITS:
        raise _too_large()
    if isinstance(value, float) and not math.isfinite(value):
        raise _too_large()
    return value


def _rounded(value: Number) -> Number:
    """A root or sine that misses a whole number by the last bit is that whole number."""
    near = round(value)
    return near if math.isclose(value, near, rel_tol=1e-14, abs_tol=1e-15) else value


def _too_large() -> InputError:
    return InputError(tr("The result is too large to work out."))


def _not_a_sum() -> InputError:
    return InputError(
        tr("That is no sum I can read."),
        hint=tr("Try “15 percent of 240”, “twelve times seven” or “5 miles in km”."),
    )
