"""The ways of Linux are tested there only: their libraries are not installed elsewhere."""

import sys

collect_ignore = [] if sys.platform == "linux" else ["test_portal.py", "test_choosing.py"]
