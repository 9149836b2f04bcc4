"""`python -m rag_core`: the command line."""

import sys

from rag_core.cli import main, stop_on_sigterm

stop_on_sigterm()
sys.exit(main())
