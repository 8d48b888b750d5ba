# Every command of the project. `make` alone lists them.

.DEFAULT_GOAL := help
.ONESHELL:
.SHELLFLAGS := -eu -c

BIN := .venv/bin
INSTALLED := .venv/installed
DOCS_INSTALLED := .venv/docs-installed
RELEASE_INSTALLED := .venv/release-installed
# Packages are installed by the hashes written here (`make lock`), then the project, which has none. A lock names all
# that is needed, so nothing is looked up; what comes as source (pyspark) is built with what is installed.
LOCKS := .ci/locks
LOCKED := --quiet --no-deps --no-build-isolation --require-hashes
PIP := pip install --disable-pip-version-check
# The first of these that is new enough; `make install PYTHON=...` chooses another.
PYTHON := python3.11 python3.12 python3.13 python3

export PYTHONUNBUFFERED := 1
# Airflow and Spark start many processes that import the same: the first one shall keep what it compiled. What is
# installed is compiled at once, which uv does only when asked.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## List these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

.PHONY: install
install: $(INSTALLED) ## Make .venv with everything but Java, which the command line does without
	@echo "Installed in .venv; next: .venv/bin/evenkeel --help, or make demo (needs Java >= 17)"

$(INSTALLED): pyproject.toml constraints.txt $(LOCKS)/installer.txt $(LOCKS)/build.txt $(LOCKS)/test.txt
	@for each in $(PYTHON); do
	  if "$$each" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$each; break; fi
	done
	if [ -z "$${python-}" ]; then
	  echo "evenkeel needs Python >= 3.11: install it (Debian: apt install python3 python3-venv), or say make install PYTHON=/path/to/python3" >&2; exit 1
	fi
	if ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then
	  echo "evenkeel needs Python's venv module: install it (Debian: apt install python3-venv)" >&2; exit 1
	fi
	echo "Installing into .venv with $$("$$python" --version), from constraints.txt and $(LOCKS) ..."
	"$$python" -m venv .venv
	PATH="$(CURDIR)/$(BIN):$$PATH"
	$(PIP) $(LOCKED) -r $(LOCKS)/build.txt
	# uv downloads several wheels at once
	if $(PIP) $(LOCKED) -r $(LOCKS)/installer.txt \
	  && UV_DEFAULT_INDEX="$$(pip config get global.index-url 2>/dev/null || true)" \
	     uv pip install --compile-bytecode --python $(BIN)/python $(LOCKED) -r $(LOCKS)/test.txt
	then :; else
	  echo "uv could not; pip does it, in about a minute more."
	  $(PIP) $(LOCKED) -r $(LOCKS)/test.txt
	fi
	$(PIP) --quiet --no-deps --no-build-isolation -e .
	touch $(INSTALLED)

.PHONY: browser
browser: ## Install Chromium, for the tests that look at pages; needs root
	@.ci/browser

.PHONY: tools
tools: $(INSTALLED) ## Put promtool (of Debian) and helm (which needs Go) into .venv, for the tests of the files to deploy
	@.ci/tools

.PHONY: java
java:
	@java="$${JAVA_HOME:+$$JAVA_HOME/bin/}java"
	version=$$("$$java" -version 2>&1 | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | head -n 1)
	if [ "$${version:-0}" -lt 17 ]; then
	  echo "evenkeel needs Java >= 17 (found: $${version:-none}): install it (Debian: apt install openjdk-17-jre-headless), or set JAVA_HOME" >&2; exit 1
	fi

.PHONY: demo
demo: java $(INSTALLED) ## Run all of it on this machine; CLUSTER=host:port for a cluster of yours
	@$(BIN)/python -m tests.stage start

.PHONY: stop
stop: ## End everything the demo started
	@if [ -x $(BIN)/python ]; then $(BIN)/python -m tests.stage stop; fi

.PHONY: test
test: java $(INSTALLED) ## Run the tests, on real brokers, Postgres, Spark and Airflow; half an hour
	@$(BIN)/python -m tests.tiers

.PHONY: test-fast
test-fast: $(INSTALLED) ## Run the tests that need no service, with fewer random cases; two minutes
	@HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-quick} $(BIN)/python -m tests.tiers fast

.PHONY: test-nightly
test-nightly: java $(RELEASE_INSTALLED) ## Run what make test leaves out: oracles, older brokers, every apply path, chaos, clocks, audit; hours
	@$(BIN)/python -m tests.tiers --nightly

.PHONY: lint
lint: $(INSTALLED) ## Check style, types and the direction of imports
	@$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: docs
docs: $(DOCS_INSTALLED) ## Build the documentation as a site, into .evenkeel/site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --config-file .mkdocs.yml
	echo "Open .evenkeel/site/index.html; its search needs a server: $(BIN)/python -m http.server -d .evenkeel/site"

$(DOCS_INSTALLED): $(INSTALLED) $(LOCKS)/docs.txt
	@$(BIN)/$(PIP) $(LOCKED) -r $(LOCKS)/docs.txt
	touch $(DOCS_INSTALLED)

.PHONY: lock
lock: ## Write the hashes of what constraints.txt pins, into .ci/locks
	@.ci/lock

.PHONY: sbom
sbom: $(RELEASE_INSTALLED) ## Build the wheel and its bill of materials (CycloneDX), into dist
	@$(BIN)/python -m hatchling build -t wheel
	$(BIN)/python -m tests.supply.sbom dist

.PHONY: release
release: java $(RELEASE_INSTALLED) ## Build wheel, sdist, jar (needs a JDK), bill and notes, and check them, into dist; OFFLINE=1 without an index
	@$(BIN)/python -m tests.supply.release $(if $(OFFLINE),--offline)

$(RELEASE_INSTALLED): $(INSTALLED) $(LOCKS)/release.txt
	@$(BIN)/$(PIP) $(LOCKED) -r $(LOCKS)/release.txt
	touch $(RELEASE_INSTALLED)

.PHONY: oracle
oracle: java $(INSTALLED) ## Ask Kafka's own classes (needs a JDK) and ours about random groups
	@$(BIN)/python -m tests.oracle

.PHONY: bench
bench: java $(INSTALLED) ## Measure speed beside Kafka's own classes; under 15 minutes
	@$(BIN)/python -m tests.benchmarks
	$(BIN)/python -m tests.benchmarks.actives
	$(BIN)/python -m tests.benchmarks.reading
	$(BIN)/python -m tests.benchmarks.scrape

.PHONY: bench-fleet
bench-fleet: java $(INSTALLED) ## Measure whole runs over fleets; GROUPS="300 1000" JSON=FILE AGAIN=1, or PLAIN=1
	@$(BIN)/python -m tests.benchmarks.fleet $(GROUPS) $(if $(JSON),--json '$(JSON)') $(if $(AGAIN),--again) $(if $(PLAIN),--plain)

.PHONY: kafka
kafka: java $(INSTALLED) ## Run three brokers and a dozen groups in the foreground; Ctrl-C stops them
	@exec $(BIN)/python -m tests.stage kafka

.PHONY: clean
clean: stop ## Stop everything, then remove .venv and .evenkeel
	rm -rf .venv .evenkeel
