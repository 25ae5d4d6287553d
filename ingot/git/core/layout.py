"""On-disk layout and configuration of bare repositories, and durable writes of files and folders."""

import os
from pathlib import Path

GENERATION = "ingot-generation"
"""File of a local copy of a repository in a bucket, with what it has of the repository."""
INTERNAL_REFS = ("refs/keep", "refs/intents")
"""Internal refs: never advertised, served by name or copied into a fork."""
MERGE_REQUEST_REFS = "refs/merge-requests"

# Old histories contain these harmless mistakes; rejecting them would reject many well-known repositories.
_IGNORED_FSCK_CHECKS = ("badTimezone", "missingSpaceBeforeDate", "zeroPaddedFilemode")

CONFIG = "\n".join(
    [
        "[core]",
        "\trepositoryformatversion = 0",
        "\tbare = true",
        "\tfilemode = true",
        "\tlogAllRefUpdates = false",
        # Includes pack indexes: without its index a pack is unusable.
        "\tfsync = all",
        # Hooks are only configured on the command line, never in a repository.
        "\thooksPath = /dev/null",
        "\tpackedRefsTimeout = 10000",
        "[transfer]",
        "\tfsckObjects = true",
        # A push is stored as one pack: two files to sync and to link into forks, regardless of the number of objects.
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
        # Protocol 2 serves any object by its id; this does so for older clients.
        "\tallowAnySHA1InWant = true",
        # Housekeeping runs as a background job.
        "[gc]",
        "\tauto = 0",
        "[maintenance]",
        "\tauto = false",
        "",
    ]
).encode()


def make_bare_repository(folder: Path, head: bytes) -> None:
    """Create the files and folders of a bare repository in an empty folder."""
    for name in ("objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags"):
        (folder / name).mkdir()
    write_durably(folder / "config", CONFIG)
    write_durably(folder / "HEAD", b"ref: " + head + b"\n")


def write_durably(file: Path, content: bytes) -> None:
    """Write a new file and return when it is synced to disk."""
    with file.open("xb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(handle.fileno())
