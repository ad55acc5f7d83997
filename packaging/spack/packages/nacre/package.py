# A recipe for Spack 1.0 and later: `spack repo add packaging/spack && spack install nacre ^openmpi`, in the directory of
# the source package of `make sdist`.
import os

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Nacre(CMakePackage):
    """Nacre is an MPI-IO library made for Lustre. MPI programs run on it unchanged, over the MPI that they already use."""

    url = f"file://{os.getcwd()}/nacre-0.1.0.tar.gz"
    manual_download = True

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

    requires("%gcc@12:", when="%gcc", msg="Nacre needs the coroutines and ranges of C++20")

    def abi(self):
        return "openmpi" if self.spec.satisfies("^[virtuals=mpi] openmpi") else "mpich"

    def cmake_args(self):
        include = self.spec["mpi"].prefix.include
        return [
            self.define("NACRE_BUILD_TESTS", False),
            self.define(f"NACRE_{self.abi().upper()}_INCLUDE", include),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_PkgConfig", self.spec.satisfies("~testbed")),
        ]

    @property
    def build_targets(self):
        return ["installed"]

    def setup_run_environment(self, env):
        env.set("NACRE_PRELOAD", join_path(self.prefix.lib, "libnacre.so"))
        env.set("NACRE_PYTHON", self.spec["python"].command.path)
