"""Tests with real weights; `packaging/real_weights.py` fetches them."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "packaging"))
