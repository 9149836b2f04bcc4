"""Keep a process that meets hostile files from the network, from other processes and from writing to others' files.

A file that breaks its parser gets no more than the parser's process has. On Linux that process gives up, for good and
for whatever it starts, what it does not need: by seccomp(2) the calls that open connections or reach into other
processes, by Landlock writing elsewhere than to temporary files, and looking at what other processes were started with.
Neither asks for a right, and what the system cannot do is left out; other systems have neither.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress

_NO_NEW_PRIVILEGES, _SECURE_BITS = 38, 28  # prctl(2)
_ROOT_IS_NOBODY = 1 | 2  # SECBIT_NOROOT, for good: programs that root starts have no capabilities again
_CAPABILITIES = 0x20080522  # the version of capget(2) and capset(2) that has two words of 32 bits
_MAY_READ = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: root reads what is others'

_FILTER = 1  # of seccomp(2)
# For all threads; without the brake on speculation, which older kernels put on and recognition would feel.
_ALL_THREADS, _FULL_SPEED = 1, 4
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 13  # EACCES
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # BPF: a word of seccomp_data, two jumps, the end
# The machine as seccomp_data names it, the numbers of seccomp(2), capget(2) and capset(2), and those of the calls that
# are refused: socket, ptrace, process_vm_readv and _writev, pidfd_getfd, io_uring_setup (which opens connections too),
# bpf, perf_event_open, userfaultfd, add_key, request_key, keyctl, unshare, setns.
_MACHINES = {
    "x86_64": (0xC000003E, (317, 125, 126), (41, 101, 310, 311, 438, 425, 321, 298, 323, 248, 249, 250, 272, 308)),
    "aarch64": (0xC00000B7, (277, 90, 91), (198, 117, 270, 271, 438, 425, 280, 241, 282, 217, 218, 219, 97, 268)),
}  # fmt: skip
_FOREIGN_CALLS = 0x40000000  # x86-64's other numbering of the same calls begins here

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # Landlock's calls, on every machine
_VERSION, _BENEATH = 1, 1
# Landlock's rights: to write, remove and make files of any kind; since version 2 to move them, since 3 to shorten them.
_WRITING = (0x1FF2, 0x1FF2 | 1 << 13, 0x1FF2 | 1 << 13 | 1 << 14)
_OF_A_FILE = 1 << 1 | 1 << 14
_OPEN_PATH = 0o10000000  # O_PATH, which os has on Linux alone


def confine() -> tuple[bool, bool]:
    """Give up, in this process and those that it starts, what reading files does not need.

    Returns what the system could: no connections, and no writing elsewhere. What is refused fails with EACCES.
    """
    machine = platform.machine() if sys.platform == "linux" and struct.calcsize("P") == 8 else ""
    if machine not in _MACHINES:
        return False, False
    system = ctypes.CDLL(None)
    if system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return False, False
    architecture, (seccomp, capget, capset), refused = _MACHINES[machine]
    writes = _keep_from_writing(system)
    _be_no_root(system, capget, capset)
    return _refuse_calls(system, architecture, seccomp, refused), writes


def _be_no_root(system: ctypes.CDLL, capget: int, capset: int) -> None:
    """Root keeps the right to read what is others', and may neither look into processes nor end them."""
    header = struct.pack("=Ii", _CAPABILITIES, 0)
    held = ctypes.create_string_buffer(24)
    if _call(system, capget, header, held) == 0:
        permitted = struct.unpack("=6I", held.raw)[1]
        system.prctl(_SECURE_BITS, _ROOT_IS_NOBODY, 0, 0, 0)
        _call(system, capset, header, struct.pack("=6I", *(permitted & _MAY_READ,) * 2, 0, 0, 0, 0))


def _refuse_calls(system: ctypes.CDLL, architecture: int, seccomp: int, refused: Sequence[int]) -> bool:
    steps = _steps(architecture, refused)
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = struct.pack("@HP", len(steps), ctypes.addressof(code))
    return _call(system, seccomp, _FILTER, _ALL_THREADS | _FULL_SPEED, program) == 0


def _steps(architecture: int, refused: Sequence[int]) -> list[tuple[int, int, int, int]]:
    """The filter (bpf(4)): each step's operation, how many to pass over where it is so, and where not, and a value."""
    count = len(refused)
    return [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 0, count + 3, architecture),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, count + 1, 0, _FOREIGN_CALLS),
        *((_EQUAL, count + 1 - number, 0, call) for number, call in enumerate(refused, 1)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]


def _keep_from_writing(system: ctypes.CDLL) -> bool:
    """Restrict this thread, and those that it begins. A process so restricted is let at no other's memory either."""
    version = _call(system, _CREATE_RULESET, 0, 0, _VERSION)
    if version < 1:
        return False
    writing = _WRITING[min(version, len(_WRITING)) - 1]
    rules = _call(system, _CREATE_RULESET, struct.pack("=Q", writing), 8, 0)
    if rules < 0:
        return False
    try:
        for path in (tempfile.gettempdir(), "/dev/shm", os.devnull):  # noqa: S108  libraries' own, not ours
            _allow(system, rules, path, writing)
        return _call(system, _RESTRICT_SELF, rules, 0, 0) == 0
    finally:
        os.close(rules)


def _allow(system: ctypes.CDLL, rules: int, path: str, writing: int) -> None:
    with suppress(OSError):  # there is none
        place = os.open(path, _OPEN_PATH | os.O_CLOEXEC)
        rights = writing if os.path.isdir(path) else writing & _OF_A_FILE  # noqa: PTH112  as light as it is
        try:
            _call(system, _ADD_RULE, rules, _BENEATH, struct.pack("=Qi", rights, place), 0)
        finally:
            os.close(place)


def _call(system: ctypes.CDLL, number: int, *values: int | bytes | ctypes.Array[ctypes.c_char]) -> int:
    """A system call that C's library has no name for; -1 where it is refused or not there."""
    given = [ctypes.c_long(value) if isinstance(value, int) else value for value in values]
    return int(system.syscall(ctypes.c_long(number), *given))
