"""Runs inside the sandbox, beside a script: standard library only, and nothing it says is trusted.

Its files are the only ones of this application that a script may read.
"""
