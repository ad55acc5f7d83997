"""`python -m nacre`."""

from nacre.cli import main

main()
