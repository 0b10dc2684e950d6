"""`python -m isogloss` is the command line."""

from .cli import main

main()
