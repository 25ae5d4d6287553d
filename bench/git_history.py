"""Git histories for benchmarks, written by ``git fast-import``."""

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

COMMITS = 20_000
FILES = 10_000
BRANCHES = 10_000
TAGS = 10_000
DEEP = "folder-00/file-00000.txt"
"""Path last changed in the middle of the history."""
_AUTHOR = b"Ada Writer <ada@example.org> %d +0000"


def write_history(path: Path) -> list[str]:
    """Fill a bare repository with many commits, files and refs; return the ids of the commits, oldest first."""
    marks = path / "bench-marks"
    import_stream(path, _stream(), f"--export-marks={marks}")
    lines = sorted((int(mark[1:]), oid) for mark, oid in (line.split() for line in marks.read_text().splitlines()))
    marks.unlink()
    return [oid for _, oid in lines]


def write_branches(path: Path, tip: str, changed: dict[str, list[str]]) -> dict[str, str]:
    """Add branches to a commit, each with one commit that changes these files, if any; return their heads."""

    def stream() -> Iterator[bytes]:
        for branch, files in changed.items():
            if not files:
                yield b"reset refs/heads/%s\nfrom %s\n\n" % (branch.encode(), tip.encode())
                continue
            yield b"commit refs/heads/%s\ncommitter " % branch.encode() + _AUTHOR % 1_600_000_000
            yield b"\ndata 6\nChange\nfrom %s\n" % tip.encode()
            for file in files:
                content = b"What %s brings\n" % branch.encode()
                yield b"M 100644 inline %s\ndata %d\n" % (file.encode(), len(content)) + content + b"\n"
        yield b"done\n"

    import_stream(path, stream())
    listed = subprocess.run(
        ["git", "for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads"],
        cwd=path,
        capture_output=True,
        text=True,
        check=True,
    )
    heads = dict(line.split() for line in listed.stdout.splitlines())
    return {branch: heads[branch] for branch in changed}


def write_bulk(path: Path, megabytes: int) -> None:
    """Fill a bare repository with incompressible files."""
    dice = random.Random(2)

    def stream() -> Iterator[bytes]:
        yield b"commit refs/heads/master\ncommitter " + _AUTHOR % 1_500_000_000 + b"\ndata 5\nBulk\n"
        for number in range(megabytes):
            yield b"M 100644 inline bulk-%d\ndata %d\n" % (number, 2**20) + dice.randbytes(2**20) + b"\n"
        yield b"done\n"

    import_stream(path, stream())


def import_stream(path: Path, stream: Iterator[bytes], *options: str) -> None:
    """Write commits in the format of ``git fast-import`` into a bare repository."""
    command = ["git", "fast-import", "--quiet", "--force", "--done", *options]
    process = subprocess.Popen(command, cwd=path, stdin=subprocess.PIPE)
    assert process.stdin is not None
    for piece in stream:
        process.stdin.write(piece)
    process.stdin.close()
    if process.wait() != 0:
        raise RuntimeError("git fast-import failed")


def _stream() -> Iterator[bytes]:
    dice = random.Random(1)
    for number in range(1, COMMITS + 1):
        message = b"Change %d\n\nBecause of %d.\n" % (number, number)
        yield b"commit refs/heads/master\nmark :%d\ncommitter " % number
        yield _AUTHOR % (1_400_000_000 + 600 * number) + b"\ndata %d\n" % len(message) + message
        touched = range(FILES) if number == 1 else [dice.randrange(1, FILES) for _ in range(2)]
        if number == COMMITS // 2:
            touched = [0, *touched]
        for file in touched:
            content = b"Line of commit %d\n" % number + b"what the file says\n" * (5 + file % 40)
            yield b"M 100644 inline %s\ndata %d\n" % (_name(file), len(content)) + content + b"\n"
    for number in range(BRANCHES):
        yield b"reset refs/heads/branch-%05d\nfrom :%d\n\n" % (number, dice.randint(1, COMMITS))
    for number in range(TAGS):
        yield b"reset refs/tags/tag-%05d\nfrom :%d\n\n" % (number, dice.randint(1, COMMITS))
    yield b"done\n"


def _name(file: int) -> bytes:
    return b"folder-%02d/file-%05d.txt" % (file % 100, file)


def names(how_many: int) -> list[str]:
    """Return random paths of existing files."""
    dice = random.Random(3)
    return [_name(dice.randrange(1, FILES)).decode() for _ in range(how_many)]
