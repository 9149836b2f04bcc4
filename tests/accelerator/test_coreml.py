"""The Core ML engine: its programs are built, saved and read back everywhere, and run by an interpreter; on macOS the
same tests predict on the machine itself."""

from __future__ import annotations

import gc
import platform
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from accelerator.backends.base import BackendUnavailable, Block
from accelerator.backends.coreml import CoreMLBackend
from accelerator.backends.coreml_program import FORMAT, constant_spans, program_spans, save_program
from accelerator.backends.coreml_rounding import Halves, round_block, round_queries
from accelerator.backends.coreml_runtime import AppleRuntime, Placement, Runtime, read_plan
from accelerator.backends.cpu import CpuBackend
from accelerator.quantise import quantise
from tests.accelerator.conftest import unit_rows
from tests.accelerator.mil_interpreter import Interpreter, InterpreterRuntime

MACOS = platform.system() == "Darwin"
predicts = pytest.mark.skipif(not MACOS, reason="Core ML predicts on macOS only")
SHAPES = [(1, 384, 64), (3, 48, 48), (97, 384, 64), (256, 48, 16), (16385, 48, 16)]


@pytest.fixture(scope="module", autouse=True)
def few_objects_to_collect() -> Iterator[None]:
    """coremltools collects garbage at each conversion, among all that its import brought: most of a test's time."""
    import coremltools  # noqa: F401

    gc.freeze()
    yield
    gc.unfreeze()


def block_of(rows: np.ndarray, head: int, digest: str = "b10c") -> Block:
    first, rest = quantise(rows[:, :head]), quantise(rows[:, head:])
    return Block(digest, first.codes, rest.codes, first.scales, rest.scales)


def held(block: Block) -> np.ndarray:
    head = block.head.astype(np.float64) * block.head_scales[:, None]
    return np.hstack([head, block.tail.astype(np.float64) * block.tail_scales[:, None]])


def exact(block: Block, queries: np.ndarray) -> np.ndarray:
    return queries.astype(np.float64) @ held(block).T


def adversarial_rows() -> tuple[np.ndarray, np.ndarray]:
    """Rows of which float16 holds little, and the queries that meet them."""
    d, head = 384, 64
    one_hot = np.eye(d, dtype=np.float32)[[0, 63, 64, 383]]
    equal = np.full((2, d), d**-0.5, dtype=np.float32)
    equal[1, ::2] *= -1
    rows = unit_rows(48, d, seed=5)
    for place, tiny in enumerate(10.0 ** -np.arange(1, 13)):  # scales down to 1e-14, far below float16's 6e-8
        rows[place, :head] *= tiny
        rows[place + 12, head:] *= tiny
    rows[24:36] = np.float32(1e-7) * np.sign(rows[24:36])  # all but one value too small for float16
    rows[24:36, 7] = 1
    rows[36:, 1::2] *= np.float32(1e-4)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    zero = np.zeros((1, d), dtype=np.float32)
    stored = np.vstack([one_hot, equal, rows, zero]).astype(np.float32)
    tails = rows[:12].copy()
    tails[:, head:] = 0  # queries that see nothing but the tiny part of a row
    tails /= np.linalg.norm(tails, axis=1, keepdims=True)
    return stored, np.vstack([stored[:-1], tails, unit_rows(8, d, seed=6)]).astype(np.float32)


@pytest.fixture(params=["interpreter", pytest.param("core ml", marks=predicts)])
def runtime(request: pytest.FixtureRequest) -> Runtime:
    return InterpreterRuntime() if request.param == "interpreter" else AppleRuntime()


@pytest.fixture
def backend(tmp_path: Path, runtime: Runtime) -> CoreMLBackend:
    return CoreMLBackend(tmp_path / "programs", runtime)


@pytest.mark.parametrize(("rows", "dimensions", "head"), SHAPES)
def test_scores_are_within_their_error(backend: CoreMLBackend, rows: int, dimensions: int, head: int) -> None:
    block, queries = block_of(unit_rows(rows, dimensions), head), unit_rows(33, dimensions, seed=7)
    scores, errors = backend.scores(block, queries)
    assert (scores.shape, scores.dtype) == ((33, rows), np.float32)
    assert (errors.shape, errors.dtype) == ((33,), np.float32)
    assert (np.abs(scores - exact(block, queries)) <= errors[:, None]).all()
    assert errors.max() < 0.02, "an error that leaves nothing to tell apart"
    others, off = CpuBackend().scores(block, queries)
    assert (np.abs(scores - others) <= (errors + off)[:, None]).all()


def test_rows_that_float16_hardly_holds(backend: CoreMLBackend) -> None:
    rows, queries = adversarial_rows()
    block = block_of(rows, 64)
    assert block.head_scales[block.head_scales > 0].min() < 1e-14
    scores, errors = backend.scores(block, queries)
    assert (np.abs(scores - exact(block, queries)) <= errors[:, None]).all()
    assert (scores[:, -1] == 0).all()
    others, off = CpuBackend().scores(block, queries)
    assert (np.abs(scores - others) <= (errors + off)[:, None]).all()


def test_tiny_scales_are_not_lost(backend: CoreMLBackend) -> None:
    """Rows shorter by a million: their scores keep float16's 11 bits."""
    block = block_of(unit_rows(64, 48) * np.float32(1e-6), 16)
    queries = unit_rows(4, 48, seed=2)
    scores, _ = backend.scores(block, queries)
    np.testing.assert_allclose(scores, exact(block, queries), atol=1e-6 * 2**-9)


def test_one_query_and_no_rows(backend: CoreMLBackend) -> None:
    block = block_of(unit_rows(0, 48), 16)
    scores, errors = backend.scores(block, unit_rows(1, 48))
    assert scores.shape == (1, 0)
    assert errors.shape == (1,)


@pytest.mark.parametrize(("rows", "dimensions", "head"), SHAPES)
def test_constants_are_read_back_bit_for_bit(tmp_path: Path, rows: int, dimensions: int, head: int) -> None:
    from coremltools.models import MLModel

    block = block_of(unit_rows(rows, dimensions), head)
    halves = round_block(block)
    package = tmp_path / "program.mlpackage"
    save_program(halves, range(rows), package)
    program = Interpreter(package)
    assert MLModel(str(package), skip_model_load=True).get_spec() == program.spec
    assert set(program.operations) == {"constexpr_affine_dequantize", "conv", *["add"] * (head < dimensions)}
    read = program.constants()
    assert len(read) == len(halves.parts) * len(constant_spans(range(rows)))
    for number, span in enumerate(constant_spans(range(rows))):
        for part in halves.parts:
            codes, ratios = read[f"{part.name}_codes_{number}"]
            assert codes.dtype == np.int8
            assert len(codes) % 64 == 0
            assert (codes[: len(span), :, 0, 0] == part.codes[span.start : span.stop]).all()
            assert ratios[: len(span)].tobytes() == part.ratios[span.start : span.stop].tobytes()
            assert not codes[len(span) :].any()


def test_a_program_has_no_more_than_what_is_computed(tmp_path: Path) -> None:
    save_program(round_block(block_of(unit_rows(97, 384), 64)), range(97), tmp_path / "program.mlpackage")
    spec = Interpreter(tmp_path / "program.mlpackage").spec
    features = {f.name: tuple(f.type.multiArrayType.shape) for f in (*spec.description.input, *spec.description.output)}
    assert features == {"head": (1, 64, 1, 32), "tail": (1, 320, 1, 32), "rows_0": (1, 128, 1, 32)}
    size = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert 128 * 384 < size < 1.2 * 128 * 384 + 4096, "int8 in the file"


@pytest.mark.parametrize("rows", [0, 1, 16_384, 16_385, 262_144, 262_145, 1_000_000])
def test_rows_are_cut_without_gaps(rows: int) -> None:
    programs = program_spans(rows, 384)
    constants = [span for program in programs for span in constant_spans(program)]
    assert [row for span in constants for row in span] == list(range(rows))
    assert all(len(span) <= 16_384 for span in constants)
    assert all(len(program) * 384 <= 96 * 2**20 for program in programs)
    assert len(programs) == -(-rows // 262_144)


def test_several_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accelerator.backends.coreml_program._PROGRAM_BYTES", 0)
    monkeypatch.setattr("accelerator.backends.coreml_program.CONSTANT_ROWS", 64)
    runtime = InterpreterRuntime()
    backend = CoreMLBackend(tmp_path, runtime)
    block, queries = block_of(unit_rows(150, 48), 16), unit_rows(2, 48, seed=1)
    scores, errors = backend.scores(block, queries)
    assert (np.abs(scores - exact(block, queries)) <= errors[:, None]).all()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"b10c-{FORMAT}-{number}" for number in range(3)]
    assert len(runtime.loaded) == 3


def test_sums_in_float16_are_within_the_error_by_chance(tmp_path: Path) -> None:
    backend = CoreMLBackend(tmp_path, InterpreterRuntime(narrow=True))
    block, queries = block_of(unit_rows(256, 384), 64), unit_rows(32, 384, seed=3)
    queries[:8] = held(block)[:8]
    scores, errors = backend.scores(block, queries)
    assert (np.abs(scores - exact(block, queries)) <= errors[:, None]).all()


def test_an_engine_further_off_than_claimed_is_refused(tmp_path: Path) -> None:
    backend = CoreMLBackend(tmp_path, InterpreterRuntime(narrow=True))
    rows = unit_rows(256, 384)
    rows[17] = 384**-0.5  # its sum only grows, and float16 rounds it the same way again and again
    with pytest.raises(BackendUnavailable, match=r"off by 0\.\d+, where 0\.01\d* is allowed for"):
        backend.scores(block_of(rows, 384), unit_rows(1, 384))


def test_errors_know_what_was_rounded() -> None:
    rounded, errors = round_queries(np.array([[0.6, 0.8, 3e-5], [1, 0, 0], [1, 1e-5, 0]], dtype=np.float32))
    assert rounded.dtype == np.float32
    assert (rounded == rounded.astype(np.float16)).all()
    assert rounded[0, 2] == 0, "hardware may make zero of what float16 holds with fewer bits"
    assert errors[1] == 0
    np.testing.assert_allclose(errors[2], 1.25e-5, rtol=1e-6)


def test_ratios_of_scales_are_part_of_the_error() -> None:
    def halves(head: float, tail: float) -> Halves:
        codes = np.full((1, 4), 127, dtype=np.int8)
        return round_block(Block("b", codes, codes, *np.array([[head], [tail]], dtype=np.float32)))

    even, odd, far = halves(0.003, 0.003), halves(0.003, 0.002), halves(0.003, 1e-7)
    assert [part.ratios[0] for part in (*even.parts, *odd.parts)] == [1, 1, 1, np.float16(2 / 3)]
    assert even.scales[0] == odd.scales[0] == np.float32(0.003)
    assert even.error < odd.error < even.error + 1.25 * 2**-11
    assert far.parts[1].ratios[0] == 0, "hardware may make zero of what float16 holds with fewer bits"
    np.testing.assert_allclose(far.error - even.error, 127 * 1e-7 * 2, rtol=1e-5)


def test_a_second_process_finds_the_programs(tmp_path: Path) -> None:
    block, query = block_of(unit_rows(97, 48), 16), unit_rows(1, 48, seed=1)
    first, second = InterpreterRuntime(), InterpreterRuntime()
    backend = CoreMLBackend(tmp_path, first)
    scores = [backend.scores(block, query)[0], backend.scores(block, query)[0]]
    scores.append(CoreMLBackend(tmp_path, second).scores(block, query)[0])
    assert (first.compiled, len(first.loaded)) == (1, 1)
    assert (second.compiled, len(second.loaded)) == (0, 1)
    assert not list(tmp_path.rglob("*.mlpackage")), "the constants are kept once"
    assert all((found == scores[0]).all() for found in scores)


def _cut(folder: Path) -> None:
    path = next(folder.rglob("weight.bin"))
    path.write_bytes(path.read_bytes()[:-1])


def _flip(folder: Path) -> None:
    path = next(folder.rglob("weight.bin"))
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)


def _foreign(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (folder / "sums.json").write_text('{"a": ["list"]}')


def _file(folder: Path) -> None:
    _foreign(folder)
    (folder / "sums.json").unlink()
    folder.rmdir()
    folder.write_text("not a folder")


@pytest.mark.parametrize("damage", [_cut, _flip, _foreign, _file], ids=lambda damage: damage.__name__)
def test_a_damaged_program_is_made_again(tmp_path: Path, damage) -> None:
    block, query = block_of(unit_rows(97, 48), 16), unit_rows(1, 48, seed=1)
    scores, _ = CoreMLBackend(tmp_path, InterpreterRuntime()).scores(block, query)
    damage(tmp_path / f"b10c-{FORMAT}-0")
    runtime = InterpreterRuntime()
    again, _ = CoreMLBackend(tmp_path, runtime).scores(block, query)
    assert runtime.compiled == 1
    assert (again == scores).all()


def test_a_program_that_no_longer_loads_is_made_again_once(tmp_path: Path) -> None:
    class Renewed(InterpreterRuntime):
        def load(self, compiled: Path):
            if not self.compiled:
                raise RuntimeError("compiled by an older system")
            return super().load(compiled)

    block, query = block_of(unit_rows(3, 48), 16), unit_rows(1, 48, seed=1)
    CoreMLBackend(tmp_path, InterpreterRuntime()).scores(block, query)
    renewed = Renewed()
    CoreMLBackend(tmp_path, renewed).scores(block, query)
    assert renewed.compiled == 1


def test_forget_removes_every_program_of_the_block(tmp_path: Path) -> None:
    backend = CoreMLBackend(tmp_path, InterpreterRuntime())
    query = unit_rows(1, 48, seed=1)
    for digest in ("b10c", "b10c2"):
        backend.scores(block_of(unit_rows(3, 48), 16, digest), query)
    (tmp_path / "b10c-0-0").mkdir()  # of an older format
    backend.forget("b10c")
    backend.forget("unknown")
    assert [path.name for path in tmp_path.iterdir()] == [f"b10c2-{FORMAT}-0"]
    scores, _ = backend.scores(block_of(unit_rows(3, 48), 16), query)
    assert scores.shape == (1, 3)


def test_threads_share_the_programs(tmp_path: Path) -> None:
    runtime = InterpreterRuntime()
    backend = CoreMLBackend(tmp_path, runtime)
    blocks = [block_of(unit_rows(97, 48, seed=seed), 16, f"b{seed}") for seed in range(2)]
    queries = unit_rows(3, 48, seed=9)
    wrong: list[int] = []

    def search(seed: int) -> None:
        for _ in range(3):
            scores, errors = backend.scores(blocks[seed], queries)
            if not (np.abs(scores - exact(blocks[seed], queries)) <= errors[:, None]).all():
                wrong.append(seed)

    threads = [threading.Thread(target=search, args=(number % 2,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert runtime.compiled == 2


@pytest.mark.parametrize("step", ["compile", "placement", "load", "predict"])
def test_what_fails_is_said(tmp_path: Path, step: str) -> None:
    def fail(*_: object) -> None:
        raise ValueError("the framework's own words")

    runtime = InterpreterRuntime()
    if step == "predict":
        runtime.load = lambda compiled: SimpleNamespace(predict=fail)
    else:
        setattr(runtime, step, fail)
    backend = CoreMLBackend(tmp_path, runtime)
    with pytest.raises(BackendUnavailable, match="Core ML failed: the framework's own words") as caught:
        backend.scores(block_of(unit_rows(3, 48), 16), unit_rows(1, 48))
    assert isinstance(caught.value.__cause__, ValueError)
    assert not list(tmp_path.glob(".*")), "nothing half made is left"


def test_scores_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    class Odd(InterpreterRuntime):
        def load(self, compiled: Path):
            return SimpleNamespace(predict=lambda inputs: {"rows_0": np.full((1, 64, 1, 32), np.nan, np.float16)})

    with pytest.raises(BackendUnavailable, match="no numbers"):
        CoreMLBackend(tmp_path, Odd()).scores(block_of(unit_rows(3, 48), 16), unit_rows(1, 48))


@pytest.mark.parametrize("plan", [Placement(2, 0), Placement(2, 1), Placement(0, 0)])
def test_a_plan_without_the_neural_engine_is_refused(tmp_path: Path, plan: Placement) -> None:
    runtime = InterpreterRuntime()
    runtime.placement = lambda compiled: plan
    said = f"The plan places {plan.placed} of {plan.convolutions} convolutions on the Neural Engine"
    with pytest.raises(BackendUnavailable, match=said):
        CoreMLBackend(tmp_path, runtime).scores(block_of(unit_rows(3, 48), 16), unit_rows(1, 48))
    assert not runtime.loaded


def test_a_system_without_plans_is_said(tmp_path: Path) -> None:
    runtime = InterpreterRuntime()
    backend = CoreMLBackend(tmp_path, runtime)
    assert backend.describe() == "coreml (Neural Engine)"
    runtime.placement = lambda compiled: None
    backend.scores(block_of(unit_rows(3, 48), 16), unit_rows(1, 48))
    assert "tells no plan" in backend.describe()


class Plan:
    """What coremltools' MLComputePlan offers, over its own classes, with devices by operation name."""

    def __init__(self, operations: list[tuple[str, str | None]]) -> None:
        from coremltools.models import compute_device, compute_plan

        self.devices = {
            "engine": object.__new__(compute_device.MLNeuralEngineComputeDevice),
            "processor": object.__new__(compute_device.MLCPUComputeDevice),
        }
        self.wanted = [device for _, device in operations]
        made = [compute_plan.MLModelStructureProgramOperation({}, name, [], [], None) for name, _ in operations]
        self.order = {id(operation): number for number, operation in enumerate(made)}
        block = compute_plan.MLModelStructureProgramBlock([], made, [])
        program = compute_plan.MLModelStructureProgram(
            {"main": compute_plan.MLModelStructureProgramFunction([], block)}
        )
        self.model_structure = compute_plan.MLModelStructure(None, program, None)
        self.usage = compute_plan.MLComputePlanDeviceUsage

    def get_compute_device_usage_for_mlprogram_operation(self, operation):
        wanted = self.wanted[self.order[id(operation)]]
        return None if wanted is None else self.usage(self.devices[wanted], [])


def test_the_plan_is_read() -> None:
    operations = [("const", None), ("ios16.conv", "engine"), ("conv", "engine"), ("ios16.add", "processor")]
    assert read_plan(Plan(operations)) == Placement(2, 2)
    assert read_plan(Plan([*operations, ("ios17.conv", "processor"), ("conv", None)])) == Placement(4, 2)
    assert read_plan(Plan([("ios16.conv_transpose", "engine")])) == Placement(0, 0)


@pytest.mark.skipif(MACOS, reason="says what is missing elsewhere than on macOS")
def test_elsewhere_the_reason_is_given(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match="Core ML predicts on macOS only"):
        CoreMLBackend.open(tmp_path)


@pytest.mark.parametrize(
    ("system", "version", "machine", "reason"),
    [("Darwin", "12.7", "arm64", "from macOS 13 on"), ("Darwin", "14.5", "x86_64", "Only Apple silicon")],
)
def test_macs_that_cannot(monkeypatch: pytest.MonkeyPatch, system, version, machine, reason) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "mac_ver", lambda: (version, ("", "", ""), machine))
    monkeypatch.setattr(platform, "machine", lambda: machine)
    with pytest.raises(BackendUnavailable, match=reason):
        AppleRuntime()


@pytest.mark.skipif(MACOS, reason="shows coremltools failing where there is no Core ML")
def test_what_coremltools_says_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "mac_ver", lambda: ("15.1", ("", "", ""), "arm64"))
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    CoreMLBackend.open(tmp_path / "new").forget("b10c")
    (tmp_path / ".0123456789abcdef.lectern-tmp").mkdir()
    backend = CoreMLBackend.open(tmp_path)
    assert not list(tmp_path.iterdir())
    with pytest.raises(BackendUnavailable, match=r"Core ML failed: Compiling .* macOS"):
        backend.scores(block_of(unit_rows(3, 48), 16), unit_rows(1, 48))
    assert not list(tmp_path.iterdir())


@predicts
def test_macos_compiles_once_and_predicts(tmp_path: Path) -> None:
    block, queries = block_of(unit_rows(16_385, 384), 64), unit_rows(40, 384, seed=1)
    first, _ = CoreMLBackend.open(tmp_path).scores(block, queries)
    changed = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    second, errors = CoreMLBackend.open(tmp_path).scores(block, queries)
    assert {path: path.stat().st_mtime_ns for path in changed} == changed
    assert (np.abs(first - exact(block, queries)) <= errors[:, None]).all()
    assert (first == second).all()
