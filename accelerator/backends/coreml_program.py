"""ML programs that score a block: its codes as int8 constants, a 1x1 convolution over each, and nothing else.

    head (1, h, 1, 32)     -> convolution with int8 codes (rows, h, 1, 1), times ratios ----+
    tail (1, d - h, 1, 32) -> convolution with int8 codes (rows, d - h, 1, 1), times ratios -+-> add -> rows_0, ...

Head and tail are inputs of their own rather than slices of one: a slice is one more operation that might not be placed
on the Neural Engine. Inputs and outputs are float16, so that a program holds no cast. The operations are those of iOS
16 and macOS 13, the first with CPU_AND_NE; their `constexpr_affine_dequantize` keeps int8 in the file.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accelerator.backends.coreml_rounding import Halves

# Goes up with every change of what a program holds or computes.
FORMAT = 1
# Queries of one prediction. A last axis of fewer is padded to as many bytes.
COLUMNS = 32
# The most that is safe on one axis.
CONSTANT_ROWS = 16_384
# Reading this many bytes takes 1.6 ms on the slowest Neural Engine of a Mac (61 GB/s on M1), so that one dispatch, 0.1
# to 0.25 ms, costs at most a sixth more. Greater programs would gain little and take more memory to build and compile.
_PROGRAM_BYTES = 96 * 2**20
# No odd number of output channels reaches a compiler that could not be tried with one.
_PADDED_ROWS = 64

# The builder keeps the block that it is in for the whole process.
_building = threading.Lock()


def program_spans(rows: int, dimensions: int) -> list[range]:
    """The rows of each program of a block of that shape."""
    constants = max(1, _PROGRAM_BYTES // (CONSTANT_ROWS * dimensions))
    return _cut(range(rows), constants * CONSTANT_ROWS)


def constant_spans(span: range) -> list[range]:
    """The rows of each output of the program that holds the rows `span`."""
    return _cut(span, CONSTANT_ROWS)


def output_name(number: int) -> str:
    """What a program calls the scores of its constants number `number`: float16 (1, rows and padding, 1, COLUMNS)."""
    return f"rows_{number}"


def save_program(halves: Halves, span: range, package: Path) -> None:
    """Build the program of the rows `span` and save it as `package`, a new path that ends with .mlpackage.

    Raises OSError, and what coremltools raises.
    """
    import coremltools
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import Function, Program, types

    target = coremltools.target.iOS16
    shapes = {part.name: (1, part.codes.shape[1], 1, COLUMNS) for part in halves.parts}
    with _building:
        inputs = {name: Builder.placeholder(shape, dtype=types.fp16) for name, shape in shapes.items()}
        with Function(inputs, opset_version=target) as main:
            spans = constant_spans(span)
            main.set_outputs([_scored(Builder, main.inputs, halves, rows, i) for i, rows in enumerate(spans)])
        program = Program()
        program.add_function("main", main)
        coremltools.convert(
            program,
            convert_to="mlprogram",
            minimum_deployment_target=target,
            pass_pipeline=coremltools.PassPipeline.EMPTY,  # what is saved is what is written here
            skip_model_load=True,
            package_dir=str(package),
        )


def _scored(builder: Any, inputs: dict[str, Any], halves: Halves, rows: range, number: int) -> Any:
    scored = []
    last = len(halves.parts) == 1
    for part in halves.parts:
        weight = builder.constexpr_affine_dequantize(
            quantized_data=_padded(part.codes, rows)[:, :, None, None],
            zero_point=np.int8(0),
            scale=_padded(part.ratios, rows),
            axis=np.int32(0),
            name=f"{part.name}_codes_{number}",
        )
        name = output_name(number) if last else f"{part.name}_{number}"
        scored.append(builder.conv(x=inputs[part.name], weight=weight, pad_type="valid", name=name))
    return scored[0] if last else builder.add(x=scored[0], y=scored[1], name=output_name(number))


def _padded(values: NDArray[Any], rows: range) -> NDArray[Any]:
    padded = np.zeros((-(-len(rows) // _PADDED_ROWS) * _PADDED_ROWS, *values.shape[1:]), dtype=values.dtype)
    padded[: len(rows)] = values[rows.start : rows.stop]
    return padded


def _cut(span: range, rows: int) -> list[range]:
    return [range(first, min(first + rows, span.stop)) for first in range(span.start, span.stop, rows)]
