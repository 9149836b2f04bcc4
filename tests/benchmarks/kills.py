"""What kills cost a library of several processes: `python -m tests.benchmarks.kills --kills 50 --seed 1`.

Two servers and three workers on one PostgreSQL take documents while any of them is killed, again and again, after a
pause of up to eight seconds, and started again at once. `lost` are documents that were accepted and are not ready in
the end, `doubled` those that are there more than once or have their one chunk more than once, `disagreeing` what the
servers find when they compare all stores; `settled_s` runs from the last kill until every server has everything. The
exit code is 1 where any of the three is not empty. LECTERN_KILLS_SEED repeats a run's draw of chance.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

from rag_core.storage.embedded.server import EmbeddedServer
from tests.benchmarks.measure import emit
from tests.rag_core.api.kills import kill_at_random


def main() -> int:
    """Run it once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    drawn = int(os.environ.get("LECTERN_KILLS_SEED") or random.SystemRandom().randrange(2**31))
    parser.add_argument("--seed", type=int, default=drawn)
    wanted = parser.parse_args()

    def tell(kill: int) -> None:
        sys.stderr.write(f"\r{kill} of {wanted.kills} kills, seed {wanted.seed}")

    with tempfile.TemporaryDirectory(prefix="lectern-kills-") as folder:
        server = EmbeddedServer(Path(folder) / "postgres")
        url = server.start()
        try:
            found = kill_at_random(Path(folder), url, wanted.kills, wanted.seed, tell)
        finally:
            server.stop()
    emit(
        benchmark="kills", seed=wanted.seed, kills=found.kills, accepted=found.accepted, lost=found.lost,
        doubled=found.doubled, disagreeing=found.disagreeing, settled_s=found.settled_s,
    )  # fmt: skip
    return 1 if found.lost or found.doubled or found.disagreeing else 0


if __name__ == "__main__":
    sys.exit(main())
