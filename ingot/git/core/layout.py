"""What a bare repository of ours consists of, and how files and folders are made to last."""

import os
from pathlib import Path

INTERNAL_REFS = ("refs/keep", "refs/intents")
"""Ours alone: never advertised, never served by name, never copied into a fork."""
MERGE_REQUEST_REFS = "refs/merge-requests"

# Old histories hold these slips, which harm nobody; refusing them would refuse many a well-known repository.
_IGNORED_FSCK_CHECKS = ("badTimezone", "missingSpaceBeforeDate", "zeroPaddedFilemode")

CONFIG = "\n".join(
    [
        "[core]",
        "\trepositoryformatversion = 0",
        "\tbare = true",
        "\tfilemode = true",
        "\tlogAllRefUpdates = false",
        # Packs' indexes too: without its index a pack is as good as lost.
        "\tfsync = all",
        # Hooks come from whoever runs git, and never from a repository.
        "\thooksPath = /dev/null",
        "\tpackedRefsTimeout = 10000",
        "[transfer]",
        "\tfsckObjects = true",
        # A push is one pack: two files to sync and to link into forks, however many objects it brings.
        "\tunpackLimit = 1",
        *(f"\thideRefs = {prefix}" for prefix in INTERNAL_REFS),
        "[receive]",
        "\tautogc = false",
        "\tadvertisePushOptions = true",
        f"\thideRefs = {MERGE_REQUEST_REFS}",
        '[receive "fsck"]',
        *(f"\t{slip} = ignore" for slip in _IGNORED_FSCK_CHECKS),
        '[fetch "fsck"]',
        *(f"\t{slip} = ignore" for slip in _IGNORED_FSCK_CHECKS),
        "[uploadpack]",
        "\tallowFilter = true",
        # Protocol 2 serves any object by its id; older clients get the same.
        "\tallowAnySHA1InWant = true",
        # Housekeeping is a job of ours.
        "[gc]",
        "\tauto = 0",
        "[maintenance]",
        "\tauto = false",
        "",
    ]
).encode()


def make_bare_repository(folder: Path, head: bytes) -> None:
    """Fill an empty folder with what git needs to take it for a repository."""
    for name in ("objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags"):
        (folder / name).mkdir()
    write_durably(folder / "config", CONFIG)
    write_durably(folder / "HEAD", b"ref: " + head + b"\n")


def write_durably(file: Path, content: bytes) -> None:
    """Write a new file, and return when the disk has it."""
    with file.open("xb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())


def sync_folder(folder: Path) -> None:
    """Return when the disk has the folder's entries."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
