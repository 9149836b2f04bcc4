"""`python -m rag_core`: the command line."""

import sys

from rag_core.cli import main

sys.exit(main())
