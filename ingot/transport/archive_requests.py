"""Check of requests to ``git upload-archive``: it finds any ref by name, also hidden ones, with any number of files.

For a name that both a branch and a tag have, git would choose the tag; the branch is chosen here, as everywhere else.
"""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import Executor

from ingot.git.core.errors import TreesTooDeep, TreeTooLarge
from ingot.git.core.refs import HEADS, TAGS
from ingot.git.core.repository import Repository
from ingot.git.history.commits import commit_id_or_none
from ingot.git.trees.depth import require_shallow_commit
from ingot.git.trees.totals import require_bounded_commit
from ingot.transport.packet_lines import FLUSH, LENGTH_BYTES, MalformedPacket, encode_packet, read_packet

MAX_BYTES = 64 * 1024
_ARGUMENT = b"argument "
_REF_PREFIXES = (b"", b"refs/", TAGS, HEADS)
"""In front of a name, in the order in which git searches for it."""
_OPTIONS_WITH_VALUE = (b"--prefix", b"--format", b"--mtime", b"-o", b"--output")


class RefNotServed(Exception):
    """Request for a hidden ref, or in a form that git does not understand."""


class ArchiveTooLarge(Exception):
    """Request for a commit with too many files or folders."""


async def check_archive_request(
    chunks: AsyncIterator[bytes], repository: Repository, hidden: tuple[str, ...], pool: Executor
) -> AsyncIterator[bytes]:
    """Pass a request on once it is complete and known to name no hidden ref; raise ``RefNotServed``.

    Raise ``ArchiveTooLarge`` if the commit has too many files.
    """
    buffer = bytearray()
    arguments: list[bytes] = []
    offset = 0
    async for chunk in chunks:
        buffer += chunk
        while (line := _line(buffer, offset)) is not None:
            offset += len(line)
            if line == FLUSH:
                await asyncio.get_running_loop().run_in_executor(pool, _require_bounded, arguments, repository)
                yield b"".join(map(_packet, _with_full_ref(arguments, repository))) + FLUSH + buffer[offset:]
                return
            argument = line[LENGTH_BYTES:].removeprefix(_ARGUMENT).rstrip(b"\n")
            if _names_hidden_ref(argument, repository, hidden):
                raise RefNotServed
            arguments.append(argument)
        if len(buffer) > MAX_BYTES:
            raise RefNotServed
    raise RefNotServed


def _line(buffer: bytearray, offset: int) -> bytes | None:
    try:
        line = read_packet(buffer, offset)
    except MalformedPacket:
        raise RefNotServed from None
    if line is not None and len(line) <= LENGTH_BYTES and line != FLUSH:
        raise RefNotServed
    return line


def _packet(argument: bytes) -> bytes:
    return encode_packet(_ARGUMENT + argument + b"\n")


def _tree_index(arguments: list[bytes]) -> int | None:
    """Return the position of the name of the tree, or None if there is none."""
    for index, argument in enumerate(arguments):
        if not argument.startswith(b"-") and not (index and arguments[index - 1] in _OPTIONS_WITH_VALUE):
            return index
    return None


def _with_full_ref(arguments: list[bytes], repository: Repository) -> list[bytes]:
    """Replace the name of the tree by the full ref of the branch, where it is also the name of a tag."""
    index = _tree_index(arguments)
    if index is not None:
        name = arguments[index].partition(b":")[0]
        if repository.tip(HEADS + name) is not None and repository.tip(TAGS + name) is not None:
            return [*arguments[:index], HEADS + arguments[index], *arguments[index + 1 :]]
    return arguments


def _require_bounded(arguments: list[bytes], repository: Repository) -> None:
    """Raise ``ArchiveTooLarge`` if any commit that git may find by this name has too many files or folders."""
    index = _tree_index(arguments)
    if index is None:
        return
    name = arguments[index].partition(b":")[0]
    tips = {repository.tip(prefix + name) for prefix in _REF_PREFIXES}
    for tip in (*tips, "HEAD" if name == b"HEAD" else None):
        commit = None if tip is None else commit_id_or_none(repository, tip)
        if commit is not None:
            try:
                require_shallow_commit(repository, commit)
                require_bounded_commit(repository, commit)
            except (TreesTooDeep, TreeTooLarge) as error:
                raise ArchiveTooLarge from error


def _names_hidden_ref(argument: bytes, repository: Repository, hidden: tuple[str, ...]) -> bool:
    """Return whether git would resolve the argument to a hidden ref, with or without ``refs/`` in front."""
    name = argument.partition(b":")[0]
    return any(
        ref.startswith(prefix.encode() + b"/") and repository.tip(ref) is not None
        for ref in (name, b"refs/" + name)
        for prefix in hidden
    )
