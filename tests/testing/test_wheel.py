"""Wheel of the package: complete, and without anything that depends on the time of the build."""

import subprocess
import sys
import time
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from ingot.core.version import DISTRIBUTION, product_version
from tests.server.process import ROOT, environment, ingot

EPOCH = 1_763_251_200
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"


def link_source(folder: Path, distribution: str = "") -> list[str]:
    """Link the files of which a distribution is built into a folder; return its modules and data files."""
    origin = ROOT / distribution
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=origin, capture_output=True, text=True, check=True).stdout
    files = [name for name in listed.split("\0") if name.startswith(("ingot/", "src/"))]
    for name in [
        *files,
        "pyproject.toml",
        "README.md",
        "LICENSE",
        *(["requirements.lock"] if not distribution else []),
    ]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(origin / name)
    return files


def build_wheel(source: Path, target: Path) -> None:
    """Build the wheel of a folder in another one."""
    subprocess.run(
        [sys.executable, "-c", BUILD, str(target)],
        cwd=source,
        env=environment(SOURCE_DATE_EPOCH=str(EPOCH)),
        check=True,
        capture_output=True,
    )


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="The list of files comes from git.")
def test_the_wheel_is_complete_and_reproducible(tmp_path: Path) -> None:
    """Only the time of the build could differ between two builds, which `make release` compares."""
    files = link_source(tmp_path / "source")
    build_wheel(tmp_path / "source", tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        members = archive.infolist()
    names = {member.filename for member in members}
    assert [name for name in files if name not in names] == []
    assert {name.split("/")[0] for name in names} == {"ingot", f"ingot_forge-{version(DISTRIBUTION)}.dist-info"}
    assert {member.date_time for member in members} == {time.gmtime(EPOCH)[:6]}


def test_the_version_is_printed() -> None:
    done = ingot("--version")
    assert (done.returncode, done.stdout) == (0, f"ingot {product_version()}\n")
    assert done.stdout.startswith(f"ingot {version(DISTRIBUTION)}")


def test_the_two_distributions_have_one_version() -> None:
    """The extra of one installs the other, and a release publishes both."""
    versions = [
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]["version"]
        for folder in ("", "pytest-ingot")
    ]
    assert versions[0] == versions[1]
