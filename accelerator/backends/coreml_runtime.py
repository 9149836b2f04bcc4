"""Apple's side: compile a program, say where it will run, load it, predict. On macOS only.

The rest of the backend reaches Core ML through `Runtime` alone, so that it runs elsewhere with an interpreter in its
place.
"""

from __future__ import annotations

import importlib.util
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from accelerator.backends.base import BackendUnavailable

# The first macOS with CPU_AND_NE, and the first that tells its plan.
_MACOS = (13, 0)
_MACOS_PLAN = (14, 4)


@dataclass(frozen=True, slots=True)
class Placement:
    """How many convolutions a program has, and how many of them the plan places on the Neural Engine."""

    convolutions: int
    placed: int


class Model(Protocol):
    """A loaded program. For one thread at a time."""

    def predict(self, inputs: Mapping[str, NDArray[np.float32]]) -> Mapping[str, NDArray[Any]]:
        """Outputs by name, in float16 or float32. inputs: values that float16 holds."""


class Runtime(Protocol):
    """What compiles and runs programs. May raise anything."""

    def compile(self, package: Path, compiled: Path) -> None:
        """Compile the saved program `package` as the new folder `compiled`, which ends with .mlmodelc."""

    def placement(self, compiled: Path) -> Placement | None:
        """Where a compiled program will run; None where the system does not tell."""

    def load(self, compiled: Path) -> Model:
        """A compiled program, ready to predict."""


class AppleRuntime:
    """Core ML, asked to use the processor and the Neural Engine."""

    def __init__(self) -> None:
        """Raises BackendUnavailable where Core ML cannot predict, and says why."""
        if platform.system() != "Darwin":
            raise BackendUnavailable("Core ML predicts on macOS only")
        if _macos() < _MACOS:
            raise BackendUnavailable(f"Core ML can be asked for the Neural Engine from macOS {_MACOS[0]} on")
        if platform.machine() != "arm64":
            raise BackendUnavailable("Only Apple silicon has a Neural Engine, and this Python does not run on it")
        if importlib.util.find_spec("coremltools") is None:
            raise BackendUnavailable("The package coremltools is not installed")

    def compile(self, package: Path, compiled: Path) -> None:
        """Compile with coremltools."""
        from coremltools.models.utils import compile_model

        compile_model(str(package), destination_path=str(compiled))

    def placement(self, compiled: Path) -> Placement | None:
        """Read Core ML's plan; None before macOS 14.4, which has none."""
        if _macos() < _MACOS_PLAN:
            return None
        from coremltools import ComputeUnit
        from coremltools.models.compute_plan import MLComputePlan

        return read_plan(MLComputePlan.load_from_path(str(compiled), compute_units=ComputeUnit.CPU_AND_NE))

    def load(self, compiled: Path) -> Model:
        """Load for the processor and the Neural Engine."""
        from coremltools import ComputeUnit
        from coremltools.models import CompiledMLModel

        model: Model = CompiledMLModel(str(compiled), compute_units=ComputeUnit.CPU_AND_NE)
        return model


def read_plan(plan: Any) -> Placement:
    """Count the convolutions of a coremltools MLComputePlan. One without a known device is not placed."""
    from coremltools.models.compute_device import MLNeuralEngineComputeDevice

    convolutions = [
        operation
        for function in plan.model_structure.program.functions.values()
        for operation in function.block.operations
        if operation.operator_name.rpartition(".")[2] == "conv"  # or "ios16.conv"
    ]
    usages = [plan.get_compute_device_usage_for_mlprogram_operation(operation) for operation in convolutions]
    placed = [
        usage
        for usage in usages
        if usage is not None and isinstance(usage.preferred_compute_device, MLNeuralEngineComputeDevice)
    ]
    return Placement(len(convolutions), len(placed))


def _macos() -> tuple[int, ...]:
    return tuple(int(number) for number in platform.mac_ver()[0].split(".") if number.isdigit())
