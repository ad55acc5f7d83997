"""Writes a machine file."""

from __future__ import annotations

import dataclasses
import json
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path

from nacre.errors import UserError
from nacre.newer_python import tomllib
from nacre.settings import user_folder
from nacre.tune.figures import Findings

VERSION = 1
FRACTIONS = ("client_cost",)


def default_path(name: str, environ: Mapping[str, str]) -> Path:
    """The file of machine `name` in the user's configuration folder."""
    return user_folder(environ) / "machines" / f"{name}.toml"


def default_name(environ: Mapping[str, str]) -> str:
    """The name of the cluster if the job has one, otherwise of this host."""
    return environ.get("SLURM_CLUSTER_NAME") or socket.gethostname().split(".")[0]


def refuse_other_mount(path: Path, mount: str) -> None:
    """Refuses to replace the machine file of another file system."""
    other = _mount_in(path)
    if other is not None and other != mount:
        raise UserError(
            f"{path} is the machine file of {other}, and would be replaced by that of {mount}",
            "Name the machine of this file system with --name, or the file with --out.",
        )


def preferred_to(path: Path, mount: str) -> Path | None:
    """A file of the same folder that Nacre uses instead of `path`: it is for the same mount, and its name comes
    first."""
    for other in sorted(path.parent.glob("*.toml")):
        if other.name >= path.name:
            break
        if _mount_in(other) == mount:
            return other
    return None


def _mount_in(path: Path) -> str | None:
    """The mount that a machine file names; None if it names none, or cannot be read."""
    try:
        return tomllib.loads(path.read_text()).get("machine", {}).get("mount")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, AttributeError):
        return None


@dataclasses.dataclass(frozen=True)
class Heading:
    name: str
    kind: str  # of the file system
    mount: str
    command: str


def as_toml(heading: Heading, found: Findings, remarks: list[str] | None = None) -> str:
    """The text of the machine file. Remarks are comments at its end."""
    lines = ["# Written by `nacre tune`. Each figure: its value, and by how much its repetitions varied.", "[machine]"]
    labels = {
        "name": heading.name,
        "description": f"measured with: {heading.command}",
        "file_system": heading.kind,
        "mount": heading.mount,
        "measured": time.strftime("%Y-%m-%d"),
    }
    lines.append(f"version = {VERSION}")
    lines += [f"{key} = {json.dumps(text)}" for key, text in labels.items() if text]
    for section in dict.fromkeys(figure.split(".")[0] for figure in found.figures):
        lines += ["", f"[{section}]"]
        for figure_name, figure in found.figures.items():
            of, key = figure_name.split(".")
            if of == section:
                value = f"{figure.value:.4g}" if key in FRACTIONS else str(max(round(figure.value), 0))
                lines.append(f"{key} = {value}  # +- {figure.spread:.0%}")
    if found.missing:
        lines += ["", "# Not measured:"]
        lines += [f"#   {missing}: {why}" for missing, why in sorted(found.missing.items())]
    if remarks:
        lines += ["", *(f"# {remark}" for remark in remarks)]
    return "\n".join(lines) + "\n"


def write(path: Path, text: str) -> None:
    """Replaces the file at once: a reader sees the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_text(text)
    fresh.replace(path)
