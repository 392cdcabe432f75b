"""The process in which tiny experts are built and run; see bench.py."""

from tests.backends.bench import bench

__all__ = ["bench"]
