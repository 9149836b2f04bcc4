"""The few operations of our ML programs, run with numpy from the files alone: what Core ML does, where it is not.

Reads the specification and the weight file of a saved program itself, so that what was written is judged and not what
was meant. Anything that our programs do not use is refused.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from accelerator.backends.coreml_runtime import Model, Placement

_DATA = Path("Data", "com.apple.CoreML")
# In front of each piece of a weight file: a mark, its type, its bytes and where they begin.
_PIECE = struct.Struct("<IIQQ")
_MARK = 0xDEADBEEF
_PIECE_TYPES = {1: np.float16, 4: np.int8}
# What an operation says beside its operands must be one of these: a 1x1 convolution, plain in every way.
_PLAIN = {"strides": [1, 1], "pad_type": "valid", "pad": [0, 0, 0, 0], "dilations": [1, 1], "groups": 1}


class Interpreter:
    """One saved program. narrow: sum in float16, one product after another, as the worst of engines might."""

    def __init__(self, package: Path, *, narrow: bool = False) -> None:
        from coremltools.proto import Model_pb2

        self.spec = Model_pb2.Model()
        self.spec.ParseFromString((package / _DATA / "model.mlmodel").read_bytes())
        self.narrow = narrow
        self._weights = (package / _DATA / "weights" / "weight.bin").read_bytes()
        main = self.spec.mlProgram.functions["main"]
        self._block = main.block_specializations[main.opset]

    @property
    def operations(self) -> list[str]:
        """The types of all operations that are no plain constants, in their order."""
        return [operation.type for operation in self._block.operations if operation.type != "const"]

    def constants(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """By name: the codes, int8, and the scales, float16, of every constant, as the file holds them."""
        found = {}
        for operation in self._block.operations:
            if operation.type == "constexpr_affine_dequantize":
                codes, scales = (self._value(operation.attributes[key]) for key in ("quantized_data", "scale"))
                found[operation.outputs[0].name] = (codes, scales)
        return found

    def predict(self, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        values: dict[str, Any] = {}
        for feature in self.spec.description.input:
            assert inputs[feature.name].shape == tuple(feature.type.multiArrayType.shape)
            values[feature.name] = inputs[feature.name].astype(np.float16)
            assert (values[feature.name] == inputs[feature.name]).all(), "an input that float16 does not hold"
        assert set(values) == set(inputs)
        for operation in self._block.operations:
            result = getattr(self, f"_{operation.type}")(operation, values)
            shape = [dimension.constant.size for dimension in operation.outputs[0].type.tensorType.dimensions]
            assert list(np.shape(result)) == shape
            values[operation.outputs[0].name] = result
        return {name: values[name] for name in self._block.outputs}

    def _const(self, operation: Any, values: dict[str, Any]) -> Any:
        return self._value(operation.attributes["val"])

    def _constexpr_affine_dequantize(self, operation: Any, values: dict[str, Any]) -> np.ndarray:
        given = {key: self._value(value) for key, value in operation.attributes.items()}
        assert given["axis"] == 0
        assert given["zero_point"] == 0
        return given["quantized_data"].astype(np.float16) * given["scale"].reshape(-1, 1, 1, 1)

    def _conv(self, operation: Any, values: dict[str, Any]) -> np.ndarray:
        given = {key: values[value.arguments[0].name] for key, value in operation.inputs.items()}
        x, weight = given.pop("x"), given.pop("weight")
        assert {key: np.asarray(value).tolist() for key, value in given.items()} == _PLAIN
        products = self._summed(weight[:, :, 0, 0], x[0, :, 0, :])
        return products[None, :, None, :]

    def _add(self, operation: Any, values: dict[str, Any]) -> np.ndarray:
        x, y = (values[operation.inputs[key].arguments[0].name] for key in "xy")
        return x + y

    def _summed(self, weight: np.ndarray, x: np.ndarray) -> np.ndarray:
        if not self.narrow:
            return (weight.astype(np.float32) @ x.astype(np.float32)).astype(np.float16)
        total = np.zeros((len(weight), x.shape[1]), dtype=np.float16)
        for channel in range(len(x)):
            total += weight[:, channel, None] * x[channel]
        return total

    def _value(self, value: Any) -> Any:
        from coremltools.proto.MIL_pb2 import DataType

        kind = DataType.Name(value.type.tensorType.dataType)
        shape = [dimension.constant.size for dimension in value.type.tensorType.dimensions]
        if value.WhichOneof("value") == "blobFileValue":
            return self._piece(value.blobFileValue, kind).reshape(shape)
        tensor = value.immediateValue.tensor
        if kind == "STRING":
            return tensor.strings.values[0]
        if kind in ("INT8", "FLOAT16"):
            return np.frombuffer(tensor.bytes.values, dtype=kind.lower()).reshape(shape)
        return np.array(getattr(tensor, {"INT32": "ints", "FLOAT32": "floats"}[kind]).values).reshape(shape)

    def _piece(self, place: Any, kind: str) -> np.ndarray:
        assert place.fileName == "@model_path/weights/weight.bin"
        mark, number, size, first = _PIECE.unpack_from(self._weights, place.offset)
        dtype = np.dtype(_PIECE_TYPES[number])
        assert (mark, dtype.name) == (_MARK, kind.lower())
        return np.frombuffer(self._weights, dtype=dtype, count=size // dtype.itemsize, offset=first)


class InterpreterRuntime:
    """Runs programs where Core ML does not. "Compiles" by copying, and counts what it is asked for."""

    def __init__(self, *, narrow: bool = False) -> None:
        self.narrow = narrow
        self.compiled = 0
        self.loaded: list[Interpreter] = []

    def compile(self, package: Path, compiled: Path) -> None:
        self.compiled += 1
        shutil.copytree(package, compiled)

    def placement(self, compiled: Path) -> Placement | None:
        convolutions = Interpreter(compiled).operations.count("conv")
        return Placement(convolutions, convolutions)

    def load(self, compiled: Path) -> Model:
        self.loaded.append(Interpreter(compiled, narrow=self.narrow))
        return self.loaded[-1]
