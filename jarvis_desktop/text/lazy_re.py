"""Regular expressions that are compiled when they are first used.

Compiling all of them at the start takes 0.1 s, and a request uses few.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _LazyPattern:
    def __init__(self, pattern: Any, flags: int) -> None:
        self._arguments = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._arguments), name)  # re caches compiled patterns
        setattr(self, name, value)
        return value


def lazy_re(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Like `re.compile`, for patterns of which only methods and attributes are used.

    An invalid pattern raises re.error when it is first used.
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))
