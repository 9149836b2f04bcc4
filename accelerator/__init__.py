"""Vectors in files and the search over them. Knows nothing of documents, questions or rag_core."""

import os

if "OMP_WAIT_POLICY" not in os.environ:
    # As simsimd is loaded it reads how its threads wait for the next scan: by default they turn for 8 ms on a core that
    # other questions need. To wake them takes 0.1 ms. Other libraries in this process are not told.
    os.environ["OMP_WAIT_POLICY"] = "passive"
    import simsimd as _  # noqa: F401

    del os.environ["OMP_WAIT_POLICY"]
