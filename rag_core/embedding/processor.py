"""What this machine's processor does fast."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

# 8-bit inner products: AVX-512 VNNI, AVX-VNNI, AMX; on ARM the dot product extension.
_X86_FLAGS = {"avx512_vnni", "avx_vnni", "amx_int8"}
_ARM_FLAG = "asimddp"
_ARM_SYSCTL = "hw.optional.arm.FEAT_DotProd"


def has_fast_int8() -> bool:
    """Whether 8-bit models run faster than float32 ones here."""
    arm = platform.machine().lower() in ("arm64", "aarch64")
    if sys.platform == "darwin":
        # Apple never sold a Mac with VNNI but a few of the last Intel ones; those take float32.
        return arm and _sysctl(_ARM_SYSCTL) == "1"
    flags = _cpu_flags()
    return _ARM_FLAG in flags if arm else bool(_X86_FLAGS & flags)


def usable_cores() -> int:
    """Processor cores that this process may run on."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu_flags() -> set[str]:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return set()
    heads = ("flags", "Features")
    return {flag for line in lines if line.startswith(heads) for flag in line.partition(":")[2].split()}


def _sysctl(name: str) -> str:
    try:
        command = ["/usr/sbin/sysctl", "-n", name]
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""
