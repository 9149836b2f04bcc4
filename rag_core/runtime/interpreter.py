"""How the threads of this process share Python's lock and the processor's cores."""

from __future__ import annotations

import sys

from threadpoolctl import threadpool_limits

# What a question calls outside of Python lets the lock go some hundred times; to have it back from a thread that cuts a
# long table it waits for this long each time. With Python's 5 ms an answer took four times as long meanwhile, with this
# about as long as without.
_SWITCH_S = 0.0005


def share_cores() -> None:
    """Have threads let each other run more often than Python's default, and those of BLAS compute alone.

    What numpy multiplies here is small; BLAS's threads would spin between products, on the cores that PostgreSQL and
    the encoder need: beside other work what takes 0.1 ms took 10.
    """
    sys.setswitchinterval(min(_SWITCH_S, sys.getswitchinterval()))
    threadpool_limits(1, "blas")
