"""Wheel of the package: complete, and identical when it is built twice."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.server.process import ROOT, environment, ingot


def _build(source: Path, target: Path) -> Path:
    for remnant in (source / "build", source / "ingot.egg-info"):
        shutil.rmtree(remnant, ignore_errors=True)
    words = [
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "-w",
        str(target),
        str(source),
    ]
    subprocess.run(
        [sys.executable, *words], env=environment(SOURCE_DATE_EPOCH="1763251200"), check=True, capture_output=True
    )
    (wheel,) = target.glob("*.whl")
    return wheel


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="The list of files comes from git.")
def test_the_wheel_is_complete_and_reproducible(tmp_path: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [name for name in listed.split("\0") if name.startswith("ingot/")]
    source = tmp_path / "source"
    for name in [*files, "pyproject.toml", "README.md", "LICENSE"]:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    first, second = (_build(source, tmp_path / name) for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        members = set(archive.namelist())
    assert [name for name in files if name not in members] == []
    assert {name.split("/")[0] for name in members} == {"ingot", "ingot-0.1.0.dist-info"}


def test_the_version_is_printed() -> None:
    done = ingot("--version")
    assert (done.returncode, done.stdout) == (0, "ingot 0.1.0\n")
