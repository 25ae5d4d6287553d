"""What a client asks of ``git upload-archive``: it finds every reference by name, so ours are kept from it here.

Of a branch and a tag that share a name it would take the tag; everywhere else in the house it is the branch.
"""

from collections.abc import AsyncIterator

from ingot.git.core.refs import HEADS, TAGS
from ingot.git.core.repository import Repository
from ingot.transport.packet_lines import FLUSH, LENGTH, MalformedPacket, encode_packet, read_packet

MAX_REQUEST_BYTES = 64 * 1024
_ARGUMENT = b"argument "
_OPTIONS_WITH_VALUE = (b"--prefix", b"--format", b"--mtime", b"-o", b"--output")


class ArchiveRequestRefused(Exception):
    """It asks for something that is not served, or in no form that git would understand."""


async def check_archive_request(
    pieces: AsyncIterator[bytes], repository: Repository, hidden: tuple[str, ...]
) -> AsyncIterator[bytes]:
    """Pass a request on, once it is known to name no reference that is hidden."""
    asked = bytearray()
    arguments: list[bytes] = []
    place = 0
    async for piece in pieces:
        asked += piece
        while (line := _line(asked, place)) is not None:
            place += len(line)
            if line == FLUSH:
                yield b"".join(map(_packet, _with_full_ref(arguments, repository))) + FLUSH + asked[place:]
                return
            argument = line[LENGTH:].removeprefix(_ARGUMENT).rstrip(b"\n")
            if _names_hidden_ref(argument, repository, hidden):
                raise ArchiveRequestRefused
            arguments.append(argument)
        if len(asked) > MAX_REQUEST_BYTES:
            raise ArchiveRequestRefused
    raise ArchiveRequestRefused


def _line(asked: bytearray, place: int) -> bytes | None:
    try:
        line = read_packet(asked, place)
    except MalformedPacket:
        raise ArchiveRequestRefused from None
    if line is not None and len(line) <= LENGTH and line != FLUSH:
        raise ArchiveRequestRefused
    return line


def _packet(argument: bytes) -> bytes:
    return encode_packet(_ARGUMENT + argument + b"\n")


def _with_full_ref(arguments: list[bytes], repository: Repository) -> list[bytes]:
    """The same, but for what is to be packed where that could be a branch or a tag: then it is the branch."""
    for place, argument in enumerate(arguments):
        if argument.startswith(b"-") or (place and arguments[place - 1] in _OPTIONS_WITH_VALUE):
            continue
        name = argument.partition(b":")[0]
        if repository.tip(HEADS + name) is not None and repository.tip(TAGS + name) is not None:
            return [*arguments[:place], HEADS + argument, *arguments[place + 1 :]]
        break
    return arguments


def _names_hidden_ref(argument: bytes, repository: Repository, hidden: tuple[str, ...]) -> bool:
    """Whether git would take it for a hidden reference, with or without ``refs/`` before it."""
    name = argument.partition(b":")[0]
    return any(
        ref.startswith(prefix.encode() + b"/") and repository.tip(ref) is not None
        for ref in (name, b"refs/" + name)
        for prefix in hidden
    )
