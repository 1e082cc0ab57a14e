"""`python -m sims.cli` is `holdfast`."""

import sys

from sims.cli import main

if __name__ == "__main__":
    sys.exit(main())
