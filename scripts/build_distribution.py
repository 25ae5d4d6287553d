"""Builds the source archive of a folder, and the wheel from that archive; both depend on nothing but the sources.

Arguments: the folder of pyproject.toml, and that of the results. SOURCE_DATE_EPOCH is the time of all files.
"""

import gzip
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

_BUILD = "import sys; from setuptools import build_meta; getattr(build_meta, sys.argv[1])(sys.argv[2])"


def build(source: Path, target: Path, epoch: int) -> None:
    """Write the source archive and the wheel."""
    with tempfile.TemporaryDirectory() as work:
        _run("build_sdist", source, Path(work))
        (archive,) = Path(work).glob("*.tar.gz")
        (target / archive.name).write_bytes(_repacked(archive, epoch))
        with tarfile.open(target / archive.name) as packed:
            packed.extractall(work, filter="data")
        _run("build_wheel", Path(work) / archive.name.removesuffix(".tar.gz"), target)


def _run(hook: str, source: Path, target: Path) -> None:
    subprocess.run([sys.executable, "-c", _BUILD, hook, str(target)], cwd=source, check=True, capture_output=True)


def _repacked(archive: Path, epoch: int) -> bytes:
    """Return the archive with sorted members of one time, owner and mode; setuptools keeps those of the build."""
    compressed = io.BytesIO()
    with (
        tarfile.open(archive) as given,
        gzip.GzipFile("", "wb", 9, compressed, mtime=epoch) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as packed,
    ):
        for member in sorted(given.getmembers(), key=lambda each: each.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = epoch, 0, 0, "", ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            packed.addfile(member, given.extractfile(member) if member.isfile() else None)
    return compressed.getvalue()


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), int(os.environ["SOURCE_DATE_EPOCH"]))
