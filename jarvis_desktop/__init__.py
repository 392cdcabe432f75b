"""JARVIS Desktop: a voice assistant that plans, runs experts on this computer and speaks."""

import os

# onnxruntime would tell its maker of its use, from the moment it is imported on.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

__version__ = "0.1.0"
