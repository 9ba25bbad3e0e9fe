# Each target works from a fresh clone: it builds what it misses, shows progress, and says at the
# end what it did. What is built is kept outside the checkout, in $(CACHE).

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/srv6mgr
LAB := lab/lab
TOPOLOGY := lab/topologies/two-pe.toml

# First errors: in one line, with the remedy.
MAKE_CACHE := mkdir -p $(CACHE) 2>/dev/null || { \
    echo "$(CACHE): cannot be created; set XDG_CACHE_HOME to a folder on another disk" >&2; exit 1; }
define make_venv
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed")' && \
{ python3 -m venv --clear $(1) >/dev/null 2>&1 || { \
    [ "$$(id -u)" = 0 ] || { echo "python3-venv is missing: apt install python3-venv" >&2; exit 1; }; \
    apt-get -qq update && apt-get -qq install -y python3-venv && python3 -m venv --clear $(1); }; }
endef

# The tools of the host: linters, type checker, and what the unit tests import.
TOOLS_FOR := requirements/runtime.txt requirements/test.txt requirements/check.txt
TOOLS := $(CACHE)/tools-$(shell cat $(TOOLS_FOR) | sha256sum | cut -c1-12)
PY := $(TOOLS)/bin

.PHONY: help demo demo-net demo-chain lab-shell test check quick unit contract robot near one job slow soak nightly deb repo image bench \
    frr docs format clean pictures terminals dashboard vm

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: ## the main job, narrated: a two-PE SRv6 VPN over gNMI, with traffic and counters
	@$(LAB) run --topology $(TOPOLOGY) -- /opt/srv6mgr/bin/python -m examples.demo

demo-net: ## a VPN on three edges as one object, narrated: all of them change, or none
	@$(LAB) run --topology lab/topologies/three-pe.toml -- /opt/srv6mgr/bin/python -m examples.network.demo

demo-chain: ## a chain of two functions on two routers, narrated: one dies, packets go around it
	@$(LAB) run --topology lab/topologies/chain.toml -- /opt/srv6mgr/bin/python -m examples.chain.demo

lab-shell: ## the demo's network, configured and left open, with things to try
	@$(LAB) run $(if $(shell test -t 0 && echo tty),--tty) --topology $(TOPOLOGY) -- \
	    /opt/srv6mgr/bin/python -m examples.demo --stay

# Stages run side by side; a stage that fails hides none of the others.
RUNNER := $(PY)/python -m tests.runner

test: $(TOOLS)/.ready ## all checks and tests that a change has to pass
	@$(RUNNER) stages check unit contract robot

check: $(TOOLS)/.ready ## format, lint, types, YANG, C
	@$(RUNNER) stages check

quick: $(TOOLS)/.ready ## the part of check that needs no lab, within seconds; what the pre-commit hook runs
	@$(RUNNER) quick

unit: $(TOOLS)/.ready ## unit and property tests, on this host, without root
	@$(RUNNER) stages unit

contract: $(TOOLS)/.ready ## adapters against the real kernel, sysrepo, Redis and FRR
	@$(RUNNER) stages contract

robot: $(TOOLS)/.ready ## system suites in the lab; one with SUITE=name
	@$(if $(SUITE),$(RUNNER) suite $(SUITE),$(RUNNER) stages robot)

near: $(TOOLS)/.ready ## the tests nearest to what changed since BASE (HEAD), within a minute
	@$(RUNNER) near $(if $(BASE),--base $(BASE))

one: $(TOOLS)/.ready ## one test or suite where it belongs: TEST=tests/contract/frr/test_vpn.py::test_vpn
	@$(RUNNER) one '$(TEST)'

job: $(TOOLS)/.ready ## one job of the stages: JOB=contract/frr-vpn
	@$(RUNNER) job $(JOB)

slow: $(TOOLS)/.ready ## where the time of the last run went
	@$(RUNNER) slow

soak: $(TOOLS)/.ready ## what needs long, by a seed: MINUTES=30 SEED=n
	@$(RUNNER) soak $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

nightly: $(TOOLS)/.ready ## all that exists: test, packages, stable, soak
	@$(RUNNER) nightly

format: $(TOOLS)/.ready ## put the sources in form
	@$(PY)/ruff format --quiet .
	@$(PY)/ruff check --quiet --fix .
	@$(PY)/robocop format --silent tests/robot
	@git ls-files '*.c' '*.h' | xargs -r $(PY)/clang-format -i
	@PATH=$(PY):$$PATH docs/generate.sh

# Tools for the site, apart from those of the checks: they change at different times.
DOCS := $(CACHE)/docs-$(shell sha256sum < requirements/docs.txt | cut -c1-12)

docs: $(DOCS)/.ready ## the site: build/site, with its links checked; python3 -m http.server -d build/site shows it
	@command -v groff >/dev/null || { apt-get -qq update && apt-get -qq install -y groff-base; }
	@$(DOCS)/bin/python docs/site/sources.py . build/site-sources
	@NO_MKDOCS_2_WARNING=1 PYTHONPATH=docs/site $(DOCS)/bin/mkdocs --quiet build -f docs/site/mkdocs.yml
	@$(DOCS)/bin/python docs/site/self_contained.py build/site
	@echo "build/site: $$(find build/site -name '*.html' | wc -l) pages"

terminals: $(DOCS)/.ready ## record the terminals that the documentation shows: docs/images
	@LAB_OUT=build/terminals $(LAB) run --topology $(TOPOLOGY) -- /opt/srv6mgr/bin/python -m docs.site.record
	@$(DOCS)/bin/python docs/site/terminals.py build/terminals/terminals.json docs/images

dashboard: ## record telemetry and photograph the dashboard that the documentation shows: docs/images
	@rm -rf build/dashboard
	@LAB_OUT=build/dashboard $(LAB) run --prometheus --topology $(TOPOLOGY) -- \
	    /opt/srv6mgr/bin/python -m docs.site.telemetry
	@python3 -m docs.site.photograph build/dashboard docs/images/dashboard.png
	@python3 -m docs.site.made_day build/made-day
	@python3 -m docs.site.photograph build/made-day docs/images/metrics.png 86400 2220

$(DOCS)/.ready:
	@echo "== tools of the site (once): $(DOCS)"
	@$(MAKE_CACHE)
	@$(call make_venv,$(DOCS))
	@$(DOCS)/bin/pip install --quiet --disable-pip-version-check -r requirements/docs.txt
	@touch $@

deb: ## the Debian packages, from a clean root: build/deb; TWICE=1: a second build must equal it; FRR=1: with the patched FRR
	@$(LAB) deb $(if $(TWICE),--twice) $(if $(FRR),--frr) build/deb

repo: ## a signed apt repository of the packages: build/repo; URL=where routers find it, SIGN_KEY=a key of gpg
	@$(LAB) repo $(if $(URL),--url $(URL)) build/repo

vm: $(TOOLS)/.ready ## a router's life on a whole Debian 13 in QEMU, with its own kernel and systemd
	@LAB_OUT=build/vm $(PY)/python -m pytest -v -x -m "" tests/vm

image: ## a container image of a router, as an OCI archive: build/image
	@$(LAB) image build/image

# A gNMI client that is not ours, beside pygnmi. Kept in the cache, for other checkouts.
GNMI_CLI := github.com/openconfig/gnmi/cmd/gnmi_cli@v0.14.1
build/bin/gnmi_cli:
	@[ -x $(CACHE)/$(notdir $(GNMI_CLI))/gnmi_cli ] || { \
	    echo "== gnmi_cli (once, 2 minutes): $(CACHE)/$(notdir $(GNMI_CLI))"; \
	    command -v go >/dev/null || { apt-get -qq update && apt-get -qq install -y golang-go; }; \
	    CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOBIN=$(CACHE)/$(notdir $(GNMI_CLI)) go install $(GNMI_CLI); } \
	    || echo "gnmi_cli could not be built: its tests are skipped"
	@[ ! -x $(CACHE)/$(notdir $(GNMI_CLI))/gnmi_cli ] || install -D $(CACHE)/$(notdir $(GNMI_CLI))/gnmi_cli $@

# The linter of prose. Kept in the cache, for other checkouts; it needs a C compiler for its parsers.
VALE := github.com/vale-cli/vale/v3/cmd/vale@v3.21.0
VALE_CACHE := $(CACHE)/$(notdir $(VALE))
build/bin/vale:
	@[ -x $(VALE_CACHE)/vale ] || { \
	    echo "== vale (once, 2 minutes): $(VALE_CACHE)"; \
	    { command -v go && command -v gcc; } >/dev/null || { \
	        apt-get -qq update && apt-get -qq install -y golang-go gcc libc6-dev; }; \
	    GOFLAGS=-buildvcs=false GOBIN=$(VALE_CACHE) go install $(VALE); } \
	    || { echo "vale could not be built: it needs Go and a proxy of Go modules (GOPROXY)"; exit 1; }
	@install -D $(VALE_CACHE)/vale $@

# A STAMP implementation that is not ours, from crates.io. Kept in the cache, for other checkouts.
STAMP_SUITE := stamp-suite@0.8.0
STAMP_SUITE_CACHE := $(CACHE)/$(subst @,-,$(STAMP_SUITE))
build/bin/stamp-suite:
	@[ -x $(STAMP_SUITE_CACHE)/stamp-suite ] || { \
	    echo "== stamp-suite (once, 2 minutes of two CPUs): $(STAMP_SUITE_CACHE)"; \
	    command -v cargo >/dev/null || { apt-get -qq update && apt-get -qq install -y cargo; }; \
	    work=$$(mktemp -d); trap 'rm -rf $$work' EXIT; \
	    CARGO_TARGET_DIR=$$work/target cargo install --locked --quiet --root $$work $(STAMP_SUITE) && \
	    install -D $$work/bin/stamp-suite $(STAMP_SUITE_CACHE)/stamp-suite; } \
	    || echo "stamp-suite could not be built: its tests are skipped"
	@[ ! -x $(STAMP_SUITE_CACHE)/stamp-suite ] || install -D $(STAMP_SUITE_CACHE)/stamp-suite $@

# A BGP speaker made of GoBGP; in the cache by what it is made of.
GOBGP := tests/robot/gobgp
GOBGP_KEY = $(shell cat $(GOBGP)/main.go $(GOBGP)/go.* | sha256sum | cut -c1-12)
build/bin/gobgp_peer: $(wildcard $(GOBGP)/*)
	@[ -x $(CACHE)/gobgp_peer-$(GOBGP_KEY) ] || { \
	    echo "== gobgp_peer (once, 2 minutes): $(CACHE)/gobgp_peer-$(GOBGP_KEY)"; \
	    command -v go >/dev/null || { apt-get -qq update && apt-get -qq install -y golang-go; }; \
	    cd $(GOBGP) && CGO_ENABLED=0 go build -buildvcs=false -o $(CACHE)/gobgp_peer-$(GOBGP_KEY) .; }
	@install -D $(CACHE)/gobgp_peer-$(GOBGP_KEY) $@

# The reference server of gRPC tunnels; in the cache by what it is made of.
TUNNEL := tests/contract/gnmi/tunnel_server
TUNNEL_KEY = $(shell cat $(TUNNEL)/main.go $(TUNNEL)/go.* | sha256sum | cut -c1-12)
build/bin/tunnel_server: $(wildcard $(TUNNEL)/*)
	@[ -x $(CACHE)/tunnel_server-$(TUNNEL_KEY) ] || { \
	    echo "== tunnel_server (once, 1 minute): $(CACHE)/tunnel_server-$(TUNNEL_KEY)"; \
	    command -v go >/dev/null || { apt-get -qq update && apt-get -qq install -y golang-go; }; \
	    cd $(TUNNEL) && CGO_ENABLED=0 go build -buildvcs=false -o $(CACHE)/tunnel_server-$(TUNNEL_KEY) .; }
	@install -D $(CACHE)/tunnel_server-$(TUNNEL_KEY) $@

# The schema of dashboards that Grafana publishes; in the cache by what it is made of.
GRAFANA := tests/contract/prometheus/grafana_schema
GRAFANA_KEY = $(shell cat $(GRAFANA)/main.go $(GRAFANA)/go.* | sha256sum | cut -c1-12)
build/bin/grafana_schema: $(wildcard $(GRAFANA)/*)
	@[ -x $(CACHE)/grafana_schema-$(GRAFANA_KEY) ] || { \
	    echo "== grafana_schema (once, 1 minute): $(CACHE)/grafana_schema-$(GRAFANA_KEY)"; \
	    command -v go >/dev/null || { apt-get -qq update && apt-get -qq install -y golang-go; }; \
	    cd $(GRAFANA) && CGO_ENABLED=0 go build -buildvcs=false -o $(CACHE)/grafana_schema-$(GRAFANA_KEY) .; }
	@install -D $(CACHE)/grafana_schema-$(GRAFANA_KEY) $@

# What gNMI is measured against and with: openconfig's cache and Subscribe server, and a reader.
build/bin/gnmi_peer: $(wildcard bench/peer/*)
	@echo "== gnmi_peer: $@"
	@command -v go >/dev/null || { apt-get -qq update && apt-get -qq install -y golang-go; }
	@cd bench/peer && CGO_ENABLED=0 go build -buildvcs=false -o ../../$@ .

bench: $(if $(filter gnmi,$(BENCH)),build/bin/gnmi_peer)
bench: ## measure against the goals: BENCH=accounting, chains, cli, frr, gnmi, hostile, metrics, model, netconf, network, proxies, reconcile, seeds, sonic [PART="..."]
	@[ -f "bench/$(BENCH).py" ] || { echo "which one? $$(grep -l 'def main' bench/*.py | sed -nE 's|bench/([a-z]+)\.py|BENCH=\1|p' | xargs)"; exit 1; }
	@# What needs several kernels of the lab boots them in turn, first of all.
	@[ ! -f "bench/$(BENCH)_boots.py" ] || python3 -m bench.$(BENCH)_boots $(PART)
	@# What needs the lab's kernel runs there first, and leaves its runs in build/lab/bench.
	@[ ! -f "bench/$(BENCH)_lab.py" ] || [ -n "$(filter rates host,$(PART))" ] || $(LAB) run --tries 2 --name bench --topology $(if $(filter chains,$(BENCH)),lab/topologies/chain.toml,$(TOPOLOGY)) -- \
	    /opt/srv6mgr/bin/python -m bench.$(BENCH)_lab $(PART)
	@status=0; $(LAB) chroot -- /opt/srv6mgr/bin/python -X faulthandler -m bench.$(BENCH) $(PART) || status=$$?; \
	    [ "$(BENCH)" != seeds ] || $(MAKE) pictures; exit $$status

# Tools that draw, apart from the others: few runs need them.
PICTURES := $(CACHE)/pictures-$(shell sha256sum < requirements/pictures.txt | cut -c1-12)

pictures: $(PICTURES)/.ready ## draw docs/figures from the last runs of BENCH=seeds
	@$(PICTURES)/bin/python -m bench.seeds_pictures

$(PICTURES)/.ready:
	@echo "== tools that draw (once): $(PICTURES)"
	@$(MAKE_CACHE)
	@$(call make_venv,$(PICTURES))
	@$(PICTURES)/bin/pip install --quiet --disable-pip-version-check -r requirements/pictures.txt
	@touch $@

frr: ## Debian's FRR with frr-patches (once, 15 minutes); contract tests then try it beside the stock one
	@$(LAB) frr

clean: ## remove what this checkout built; the cache stays
	@rm -rf build .mypy_cache .ruff_cache .pytest_cache .hypothesis

# Named by what is in the lists: their times, which a checkout changes, say nothing.
$(TOOLS)/.ready:
	@echo "== host tools (once): $(TOOLS)"
	@$(MAKE_CACHE)
	@$(call make_venv,$(TOOLS))
	@grep -hvE '^(#|libyang|sysrepo)' $(TOOLS_FOR) > $(TOOLS)/requirements.txt
	@$(PY)/pip install --quiet --disable-pip-version-check -r $(TOOLS)/requirements.txt
	@touch $@
