"""Libraries that tests need and users do not have.

sqlite-utils imports pandas if it is there, which takes half a second of every start that creates a
history.
"""

from __future__ import annotations

import os
from pathlib import Path

PATH = os.pathsep.join(map(str, (Path(__file__).parent, Path(__file__).parents[2])))
"""PYTHONPATH of a process of the application that does not see them."""
