"""Check of requests to ``git upload-archive``: it finds any ref by name, also hidden ones.

For a name that both a branch and a tag have, git would choose the tag; the branch is chosen here, as everywhere else.
"""

from collections.abc import AsyncIterator

from ingot.git.core.refs import HEADS, TAGS
from ingot.git.core.repository import Repository
from ingot.transport.packet_lines import FLUSH, LENGTH_BYTES, MalformedPacket, encode_packet, read_packet

MAX_BYTES = 64 * 1024
_ARGUMENT = b"argument "
_OPTIONS_WITH_VALUE = (b"--prefix", b"--format", b"--mtime", b"-o", b"--output")


class RefNotServed(Exception):
    """Request for a hidden ref, or in a form that git does not understand."""


async def check_archive_request(
    chunks: AsyncIterator[bytes], repository: Repository, hidden: tuple[str, ...]
) -> AsyncIterator[bytes]:
    """Pass a request on once it is complete and known to name no hidden ref; raise ``RefNotServed``."""
    buffer = bytearray()
    arguments: list[bytes] = []
    offset = 0
    async for chunk in chunks:
        buffer += chunk
        while (line := _line(buffer, offset)) is not None:
            offset += len(line)
            if line == FLUSH:
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


def _with_full_ref(arguments: list[bytes], repository: Repository) -> list[bytes]:
    """Replace the name of the tree by the full ref of the branch, where it is also the name of a tag."""
    for index, argument in enumerate(arguments):
        if argument.startswith(b"-") or (index and arguments[index - 1] in _OPTIONS_WITH_VALUE):
            continue
        name = argument.partition(b":")[0]
        if repository.tip(HEADS + name) is not None and repository.tip(TAGS + name) is not None:
            return [*arguments[:index], HEADS + argument, *arguments[index + 1 :]]
        break
    return arguments


def _names_hidden_ref(argument: bytes, repository: Repository, hidden: tuple[str, ...]) -> bool:
    """Return whether git would resolve the argument to a hidden ref, with or without ``refs/`` in front."""
    name = argument.partition(b":")[0]
    return any(
        ref.startswith(prefix.encode() + b"/") and repository.tip(ref) is not None
        for ref in (name, b"refs/" + name)
        for prefix in hidden
    )
