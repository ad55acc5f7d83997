# A recipe for Spack 1.0 and later. docs/install.md has the commands; run them in the directory of the source package of
# `make sdist`.
import os

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Nacre(CMakePackage):
    """Nacre is an MPI-IO library made for Lustre. MPI programs run on it unchanged, over the MPI that they already use."""

    url = f"file://{os.getcwd()}/nacre-0.1.0.tar.gz"
    manual_download = True

    sanity_check_is_file = ["bin/nacre", "include/nacre/nacre.h", "lib/libnacre.so", "lib/libnacre_posix.so"]

    license("BSD-3-Clause")

    # Without a checksum: `make sdist` packs the commit that is checked out. Spack asks before it installs such a version;
    # `spack install --no-checksum` does not.
    version("0.1.0")

    variant("testbed", default=False, description="Build the emulated Lustre, on FUSE")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-typer@0.12:", type="run")
    depends_on("py-rich@13:", type="run")
    # For its mpi.h: Nacre links no MPI, and serves every MPI of the same ABI.
    depends_on("mpi")
    depends_on("pkgconfig", type="build", when="+testbed")
    depends_on("libfuse@3.12:", when="+testbed")

    requires("platform=linux")
    requires("target=x86_64:", "target=aarch64:", policy="any_of")
    conflicts("%gcc@:11", msg="Nacre needs the coroutines and ranges of C++20")

    def cmake_args(self):
        return [
            # Spack expects lib on every distribution.
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
            self.define("CMAKE_SKIP_INSTALL_ALL_DEPENDENCY", True),
            self.define("NACRE_BUILD_TESTS", False),
            # CMake finds out which ABIs the mpi.h has. MPIs of the system are left out.
            self.define("NACRE_MPI_INCLUDES", self.spec["mpi"].headers.directories),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_PkgConfig", self.spec.satisfies("~testbed")),
        ]

    @property
    def build_targets(self):
        return ["installed"]

    def setup_run_environment(self, env):
        env.set("NACRE_PRELOAD", join_path(self.prefix.lib, "libnacre.so"))
        env.set("NACRE_PYTHON", self.spec["python"].command.path)

    def test_version(self):
        """the command names its version and the ABIs that it serves"""
        nacre = which(join_path(self.prefix.bin, "nacre"), required=True)
        printed = nacre("--version", output=str.split, error=str.split)
        assert f"nacre {self.spec.version}" in printed
        assert "ABIs " in printed
