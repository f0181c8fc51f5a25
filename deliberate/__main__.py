"""``python -m deliberate``."""

from deliberate.cli import main

main()
