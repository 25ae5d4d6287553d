"""Wheel of the package: complete, and without anything that depends on the time of the build."""

import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from tests.server.process import ROOT, environment, ingot

EPOCH = 1_763_251_200
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="The list of files comes from git.")
def test_the_wheel_is_complete_and_reproducible(tmp_path: Path) -> None:
    """Only the time of the build could differ between two builds, which `make release` compares."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [name for name in listed.split("\0") if name.startswith("ingot/")]
    source = tmp_path / "source"
    for name in [*files, "pyproject.toml", "README.md", "LICENSE"]:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).symlink_to(ROOT / name)
    subprocess.run(
        [sys.executable, "-c", BUILD, str(tmp_path)],
        cwd=source,
        env=environment(SOURCE_DATE_EPOCH=str(EPOCH)),
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        members = archive.infolist()
    names = {member.filename for member in members}
    assert [name for name in files if name not in names] == []
    assert {name.split("/")[0] for name in names} == {"ingot", "ingot-0.1.0.dist-info"}
    assert {member.date_time for member in members} == {time.gmtime(EPOCH)[:6]}


def test_the_version_is_printed() -> None:
    done = ingot("--version")
    assert (done.returncode, done.stdout) == (0, "ingot 0.1.0\n")
