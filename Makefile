# SPDX-License-Identifier: Apache-2.0
#
# Everything that is typed in this checkout. Each target is a script of the same name in scripts/, whose first lines say
# what it does and how it fails. All packages of the checkout are one build in the scratch path .build, and no two builds
# run at once.

PREFIX ?= /usr/local
FUZZ_SECONDS = $(if $(SECONDS),$(SECONDS),30)
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo pictures quick test check nightly proof bench fuzz install uninstall deb container docs format clean
MAKEFLAGS += --no-print-directory

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  NO_INSTALL=1 keeps every target from installing what it lacks with apt-get."

demo: ## key changes, interception, kill switch, 200 clients and the dashboard: on this machine [ONCE=1: ends by itself]
	@ONCE='$(ONCE)' scripts/demo

quick: ## the tests of one target, while you work [ROOM=PinListMetadata] [FILTER=part of a name]
	@scripts/quick '$(ROOM)' '$(FILTER)'

test: ## every unit and story test
	@scripts/test

check: ## what every change must pass: format, links, warnings, tests, examples, the reference, the demonstration
	@scripts/check

nightly: ## the rest: real components, fuzzing, the service's proofs in short, release builds, traits, packaging
	@scripts/nightly

proof: ## the proofs in full size, resumable; figures go to docs/proof/
	@scripts/proof

bench: ## ratios measured in one run: build with nothing else running
	@scripts/bench

fuzz: ## libFuzzer on every parser [SECONDS=30 for each]
	@scripts/fuzz '$(FUZZ_SECONDS)'

install: ## tumbler, tumbler-service and tumbler-audit, completions, manual pages [PREFIX=/usr/local] [DESTDIR=]
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install

uninstall: ## removes what install put there [PREFIX=/usr/local] [DESTDIR=]
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install --remove

deb: ## Debian packages of the three programs, into .build/deb
	@scripts/deb

container: ## the service as a container image, with buildah
	@scripts/container

pictures: ## the dashboard at the end of the demonstration, into docs/pictures; needs Chromium
	@scripts/pictures

docs: ## the reference of the libraries, into .build/docs
	@scripts/docs

format: ## formats all Swift files in place
	@scripts/format

clean: ## removes all that was built or installed into the checkout
	rm -rf .build .tools
