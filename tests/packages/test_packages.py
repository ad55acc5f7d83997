"""The packages in build/dist, installed into bare systems that have never seen the source tree: `make test-packages`.

Each system has its own MPIs, compiler and Python. NACRE_TEST_DIST: the directory of the packages. NACRE_TEST_SYSTEMS:
where the systems are made, 2.5 GB; they stay there for the next run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import systems

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/system"))

import slurm_configuration  # noqa: E402

DIST = Path(os.environ.get("NACRE_TEST_DIST", SOURCE / "build/dist"))
SYSTEMS = Path(os.environ.get("NACRE_TEST_SYSTEMS", SOURCE / "build/test-packages"))
VERSION = re.search(r"project\(nacre VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
# glibc 2.31 with Python 3.9, and 2.41 with Python 3.13.
SUITES = ["bullseye", "trixie"]
APP = SOURCE / "tests/system/consumer/app.c"
MPIS = {"mpich": "mpiexec.mpich", "openmpi": "mpiexec.openmpi --oversubscribe"}

pytestmark = pytest.mark.skipif(bool(systems.why_none()), reason=systems.why_none() or "none")


def package(pattern: str) -> Path:
    found = sorted(DIST.glob(pattern), key=lambda path: path.stat().st_mtime)
    assert found, f"no {pattern} in {DIST}: run `make packages`"
    return found[-1]


@pytest.fixture(scope="module", params=SUITES)
def system(request) -> systems.System:
    """A system with MPICH and Open MPI, and a program for each."""
    made = systems.bare(request.param, SYSTEMS)
    made.install(["gcc", "libc6-dev", "libmpich-dev", "mpich", "libopenmpi-dev", "openmpi-bin", "python3-venv"])
    return made


def expect_version(printed: str) -> None:
    lines = printed.splitlines()
    assert lines[0] == f"nacre {VERSION}"
    assert re.fullmatch("commit [0-9a-f]{12,40}(-dirty)?", lines[1])
    assert lines[2].startswith("ABIs mpich, openmpi, mpiabi, in ")


def expect_served(system: systems.System, nacre: str, include: str) -> None:
    """A program on each MPI of the system: `nacre doctor` proves it, and the program itself says so."""
    system.put(APP, "/root")
    expect_version(system.run(f"{nacre} --version"))
    for mpi, mpiexec in MPIS.items():
        library = Path(include).parent / "lib"
        system.run(f"mpicc.{mpi} -I{include} app.c -o app -L{library} -lnacre")
        printed = system.run(f"{nacre} doctor -- {mpiexec} -n 2 ./app data")
        print(printed)
        assert f"libnacre_{mpi}.so served" in printed
        assert "!!" not in printed
        printed = system.run(f"{nacre} run -- {mpiexec} -n 2 ./app data; wc -c < data; rm data")
        assert re.search(rf"^{VERSION} [0-9a-f]+(-dirty)? 1\n2$", printed, re.MULTILINE)


def test_the_wheel_serves_programs(system, tmp_path):
    """Offline: the dependencies are downloaded for the system's Python beside the wheel."""
    wheel = package("nacre-*-manylinux_2_28_*.whl")
    python = re.search(r"\d\.\d+", system.run("python3 --version"))[0]
    pip = [SOURCE / "build/venv/package/bin/pip", "download", "--quiet", "--only-binary", ":all:", "--dest", tmp_path]
    # pip evaluates conditions on the version of Python for its own.
    older = ["tomli>=2"] if python in ("3.9", "3.10") else []
    subprocess.run([*map(str, pip), "--python-version", python, str(wheel), *older], check=True, timeout=600)
    shutil.rmtree(system.root / "wheels", ignore_errors=True)
    for path in tmp_path.iterdir():
        system.put(path, "/wheels")
    system.run("rm -rf /root/venv; python3 -m venv /root/venv")
    system.run("/root/venv/bin/pip install -q --no-index --find-links /wheels nacre")
    expect_served(system, "/root/venv/bin/nacre", f"/root/venv/lib/python{python}/site-packages/nacre/include")


def test_the_deb_serves_programs(system):
    deb = package("nacre_*.deb")
    system.put(deb, "/packages")
    system.run(f"apt-get install -q -y --reinstall /packages/{deb.name}")
    try:
        expect_served(system, "nacre", "/opt/nacre/include")
    finally:
        system.run("apt-get purge -q -y nacre")
    assert not (system.root / "opt/nacre").exists()


def test_the_rpm_serves_programs(system):
    """On a Debian, where the rpm database knows no other package: --nodeps. The test below checks what it requires."""
    # Debian's rpm before 4.20 refuses to install without the option, which later ones do not know.
    command = "rpm $(rpm --help | grep -o -m1 -e --force-debian)"
    rpm = package("nacre-*.rpm")
    system.install(["rpm"])
    system.put(rpm, "/packages")
    system.run(f"{command} -i --nodeps /packages/{rpm.name}")
    try:
        expect_served(system, "nacre", "/opt/nacre/include")
    finally:
        system.run(f"{command} -e --nodeps nacre")


def test_the_rpm_requires_no_newer_glibc_than_that_of_rhel_8():
    listed = subprocess.run(["rpm", "-qp", "--requires", package("nacre-*.rpm")], capture_output=True, text=True)
    versions = [tuple(map(int, one.split("."))) for one in re.findall(r"GLIBC_([\d.]+)", listed.stdout)]
    assert versions
    assert max(versions) <= (2, 28)
    assert "libstdc++" not in listed.stdout


@pytest.mark.parametrize(
    ("tool", "start", "kind"),
    [("lmod", ". /usr/share/lmod/lmod/init/bash", "lua"), ("lmod", ". /usr/share/lmod/lmod/init/bash", "tcl"),
     ("environment-modules", ". /usr/share/modules/init/bash", "tcl")],
)  # fmt: skip
def test_a_module_loads_and_unloads(system, tool, start, kind):
    deb = package("nacre_*.deb")
    system.put(deb, "/packages")
    system.install([tool])
    system.run(f"apt-get install -q -y --reinstall /packages/{deb.name}")
    script = f"""{start}
module use /opt/nacre/share/nacre/modulefiles/{kind}
module load nacre/{VERSION}
module list 2>&1
type nacre
nacre --version
test -r $NACRE_PRELOAD && echo preload $NACRE_PRELOAD
pkg-config --version > /dev/null 2>&1 || echo $PKG_CONFIG_PATH
module unload nacre
echo "left <$NACRE_PRELOAD>"
"""
    (system.root / "root/load.sh").write_text(script)
    printed = system.run("bash load.sh")
    assert f"nacre/{VERSION}" in printed
    assert "/opt/nacre/bin/nacre" in printed
    assert "preload /opt/nacre/lib/libnacre.so" in printed
    assert f"nacre {VERSION}\n" in printed
    assert "left <>" in printed


def test_the_slurm_plugin_of_the_deb_serves_programs(system):
    """The SPANK plugin, built in the system from what the package installed, under the Slurm of the system."""
    deb = package("nacre_*.deb")
    folder = Path("/root/slurm")
    shutil.rmtree(system.root / folder.relative_to("/"), ignore_errors=True)
    system.put(deb, "/packages")
    system.put(SOURCE / "tests/system/writer.c", "/root")
    system.put(SOURCE / "tests/packages/slurm.sh", str(folder))
    (system.root / "root/slurm/slurm.conf").write_text(slurm_configuration.configuration(folder))
    system.install(["cmake", "make", "slurmctld", "slurmd", "slurm-client", "libslurm-dev", "munge"])
    system.run(f"apt-get install -q -y --reinstall /packages/{deb.name}")
    script = """mpicc.mpich writer.c -o writer
srun -n 1 sh -c 'echo "without <$LD_PRELOAD>"'
srun --nacre=cb_nodes=2 -n 1 sh -c 'echo "with <$LD_PRELOAD> <$NACRE_HINTS>"'
srun --nacre=nacre_report=/root/slurm/io.jsonl --mpi=pmi2 -n 2 ./writer data
wc -c < data
nacre doctor -- srun --mpi=pmi2 -n 2 ./writer data
"""
    (system.root / "root/slurm/commands.sh").write_text(script)
    try:
        printed = system.run(f"{folder}/slurm.sh {folder} sh -e {folder}/commands.sh")
    finally:
        system.run("rm -rf /opt/nacre/lib/slurm")
    print(printed)
    assert "without <>\n" in printed
    assert "with </opt/nacre/lib/libnacre.so> <*:cb_nodes=2>\n" in printed
    assert "\n2\n" in printed
    assert "libnacre_mpich.so served" in printed
    [line] = (system.root / "root/slurm/io.jsonl").read_text().splitlines()
    assert json.loads(line)["file"] == "/root/data"


def test_easybuild_builds_and_loads_it(tmp_path):
    """EasyBuild builds with the compiler of this machine, as another user than root."""
    eb = SOURCE / "build/venv/easybuild/bin/eb"
    if not eb.exists():
        pytest.skip(f"no {eb}: `make setup-package` installs EasyBuild")
    if not Path("/usr/share/lmod/lmod/libexec/lmod").exists():
        pytest.skip("no Lmod: `make setup-package` installs it")
    shutil.copy(package("nacre-*.tar.gz"), tmp_path)
    shutil.copy(SOURCE / f"packaging/easybuild/nacre-{VERSION}.eb", tmp_path)
    tmp_path.chmod(0o777)
    prefix = tmp_path / "prefix"
    command = f"""
export PATH={eb.parent}:$PATH LMOD_CMD=/usr/share/lmod/lmod/libexec/lmod
{eb} --allow-use-as-root-and-accept-consequences --prefix={prefix} --modules-tool=Lmod --module-syntax=Lua \
  --sourcepath={tmp_path} --robot-paths={tmp_path} {tmp_path}/nacre-{VERSION}.eb
. /usr/share/lmod/lmod/init/bash
module use {prefix}/modules/all
module load nacre
nacre --version
echo preload $NACRE_PRELOAD
"""
    result = subprocess.run(["bash", "-ec", command], capture_output=True, text=True, timeout=3600)
    print(result.stdout, result.stderr)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    assert f"nacre {VERSION}\n" in result.stdout
    assert f"preload {prefix}/software/nacre/{VERSION}/lib/libnacre.so" in result.stdout


def test_an_image_builds_from_the_containerfile(system, tmp_path):
    """With the system as base image, because no registry of images is asked."""
    buildah = shutil.which("buildah")
    if buildah is None:
        pytest.skip("no buildah: `make setup-package` installs it")
    shutil.copy(package("nacre_*.deb"), tmp_path)
    system.put(APP, "/root")
    flags = ["--storage-driver", "vfs", "--root", str(tmp_path / "images"), "--runroot", str(tmp_path / "run")]

    def build(*words: object) -> str:
        command = [buildah, *flags, *map(str, words)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=3600)
        assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
        return result.stdout

    base = build("from", "scratch").strip()
    build("add", "--quiet", base, system.root, "/")
    build("commit", "--quiet", base, "base")
    options = ["--isolation", "chroot", "--network", "host", "--pull-never", "--build-arg", "BASE=localhost/base"]
    build("build", *options, "-f", SOURCE / "packaging/container/Containerfile", "-t", "nacre", tmp_path)
    container = build("from", "--pull-never", "localhost/nacre").strip()
    compiled = "mpicc.mpich -I/opt/nacre/include app.c -o app -L/opt/nacre/lib -lnacre"
    proof = f"cd /root && {compiled} && nacre doctor -- mpiexec.mpich -n 2 ./app data"
    # MPICH 3 asks for the address of the host name, which a container need not have.
    printed = build("run", "--isolation", "chroot", "--hostname", "localhost", container, "--", "sh", "-c", proof)
    print(printed)
    assert "libnacre_mpich.so served" in printed
