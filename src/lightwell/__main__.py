"""`python -m lightwell` is the `lightwell` command."""

from __future__ import annotations

import sys

from lightwell.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
