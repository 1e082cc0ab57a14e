# Everything a fresh machine with Python 3.11+ needs: each target makes its own environment.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready
SHOWN := $(VENV)/.shown
DOCUMENTED := $(VENV)/.documented

.PHONY: demo test quick check coverage docs lint types golden clean

demo: $(SHOWN)
	@for name in figure1 volatile20; do \
		$(RUN) -m sims.cli run sims/scenarios/$$name.toml --log logs/$$name.jsonl && \
		$(RUN) -m sims.cli trace logs/$$name.jsonl application > logs/$$name.trace.txt && \
		$(RUN) -m sims.cli plot logs/$$name.jsonl --output logs/$$name.png || exit 1; \
	done
	@echo 'logs/ has the log, the trace of its job and the picture of both'

test: $(READY)
	$(RUN) -m pytest -n auto --dist worksteal

quick: $(READY)
	$(RUN) -m pytest -n 2 --dist worksteal -m "not slow" @tests/quick.txt

check: lint types coverage

coverage: $(READY)
	$(RUN) -m pytest -n auto --cov --cov-report=term-missing

docs: $(DOCUMENTED)
	$(RUN) -m sims.docs.renew
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict --quiet -f sims/docs/mkdocs.yml
	@echo 'the site is at build/site/index.html'

lint: $(READY)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

types: $(READY)
	$(RUN) -m mypy

golden: $(READY)
	$(RUN) tests/golden/regenerate.py

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

# What a target needs and no more: pictures for the demo, all tools for whoever changes the code.
$(SHOWN): EXTRAS = plot
$(READY): EXTRAS = dev
$(DOCUMENTED): EXTRAS = docs
$(SHOWN) $(READY) $(DOCUMENTED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Holdfast needs Python 3.11 or later")'
	@test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS)]'
	touch $@
