"""Commands of the documents and messages that install something, run against an index of the built wheels.

The packages that these need are there as empty wheels of the locked versions, so that nothing is downloaded.
"""

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingot.core.version import product_version
from tests.server.process import ROOT, environment
from tests.testing.test_wheel import build_wheel, link_source

TEXTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(path for path in (ROOT / "deploy").rglob("*") if path.is_file()),
    ROOT / "pytest-ingot" / "README.md",
    ROOT / "ingot" / "core" / "settings.py",
    ROOT / "ingot" / "core" / "bucket_settings.py",
    ROOT / "pytest-ingot" / "src" / "pytest_ingot" / "locations.py",
]
COMMAND = re.compile(
    r"(pip|pipx|uv tool) install (?:--\S+ )*'?(ingot_forge-\S+\.whl|(?:ingot|pytest-ingot)[\w-]*(?:\[[\w,-]+\])?)"
)
UV = str(Path(sys.executable).with_name("uv"))


def _pythons() -> list[str]:
    """Return the Pythons of this machine, one of each version; a shim may have none behind it."""
    found = [shutil.which(f"python3.{minor}") for minor in range(11, 20)]
    return [path for path in found if path and _runs(path)]


def _runs(python: str) -> bool:
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def _commands() -> set[tuple[str, str]]:
    """Return the installers with what each installs, wheels with the version that is built here."""
    found: set[tuple[str, str]] = set()
    for path in TEXTS:
        for installer, requirement in COMMAND.findall(path.read_text()):
            found.add((installer, requirement))
    return found


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build both wheels, and an empty wheel of each locked package."""
    folder = tmp_path_factory.mktemp("index")
    for source in ("", "pytest-ingot"):
        linked = tmp_path_factory.mktemp("source")
        link_source(linked, source)
        build_wheel(linked, folder)
    for name, version in re.findall(
        r"^([a-z0-9._-]+)==([^ ;\\]+)", (ROOT / "requirements-dev.lock").read_text(), re.MULTILINE
    ):
        _write_empty_wheel(folder, name, version)
    return folder


def _write_empty_wheel(folder: Path, name: str, version: str) -> None:
    base = f"{re.sub(r'[-_.]+', '_', name)}-{version}"
    info = f"{base}.dist-info"
    files = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{base}-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)


def _installed(python: str, installer: str, requirement: str, index: Path, folder: Path) -> Path:
    """Run a command in an environment of its own; return the folder of its programs."""
    source = ["--no-index", "--find-links", str(index), requirement]
    programs = folder / "tools"
    tools = {
        "UV_TOOL_DIR": str(folder / "tool"),
        "UV_TOOL_BIN_DIR": str(programs),
        "UV_CACHE_DIR": str(folder / "cache"),
    }
    if installer == "pip":
        programs = folder / "venv" / "bin"
        words = [["venv", "--python", python, str(programs.parent)]]
        words.append(["pip", "install", "--python", str(programs / "python"), *source])
    else:  # Both give each program an environment of its own.
        words = [["tool", "install", "--python", python, *source]]
    for each in words:
        subprocess.run([UV, "--quiet", "--offline", *each], env=environment(**tools), check=True)
    return programs


def _each_installation(index: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    for number, python in enumerate(_pythons() or [sys.executable]):
        for count, (installer, requirement) in enumerate(sorted(_commands())):
            (wheel,) = index.glob("ingot_forge-*.whl")
            target = str(wheel) if requirement.endswith(".whl") else requirement
            yield requirement, _installed(python, installer, target, index, folder / f"{number}-{count}")


def test_every_documented_installation_works(index: Path, tmp_path: Path) -> None:
    seen = set()
    for requirement, programs in _each_installation(index, tmp_path):
        seen.add(requirement)
        done = subprocess.run([programs / "ingot", "--version"], capture_output=True, text=True, check=True)
        assert done.stdout.split("+")[0].strip() == f"ingot {product_version()}".split("+")[0]
        packages = {path.name for path in programs.parent.glob("lib/python*/site-packages/*")}
        assert ("pytest_ingot" in packages) is ("testing" in requirement)
        assert ("ldap3-" in str(packages)) is ("ldap" in requirement)
    assert {"ingot-forge", "ingot-forge[testing]", "ingot-forge[s3]", "ingot-forge[ldap]", "ingot-forge[acme]"} <= seen


def test_no_document_installs_a_package_of_strangers() -> None:
    """The package ``ingot`` of the public index is another project's."""
    assert {requirement for _, requirement in _commands() if re.match(r"ingot(\[|$)", requirement)} == set()
