"""What runs inside of the sandbox, beside a script: standard library only, and nothing of it is
believed outside. Its files are the only ones of this application that a script may read."""
