import sys
from pathlib import Path

# At the end, because the folder has the name of a library; nothing in it may hide another module.
sys.path.append(str(Path(__file__).resolve().parents[2] / "packaging"))
