"""Makes `python -m holdfast` the same as `holdfast`."""

import sys

from sims.cli import main

if __name__ == "__main__":
    sys.exit(main())
