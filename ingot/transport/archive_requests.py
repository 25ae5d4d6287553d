"""What a client asks of ``git upload-archive``: it finds every reference by name, so ours are kept from it here.

Of a branch and a tag that share a name it would take the tag; everywhere else in the house it is the branch.
"""

from collections.abc import AsyncIterator

from ingot.git.refs import HEADS, TAGS
from ingot.git.repository import Repository

MOST_BYTES = 64 * 1024
_LENGTH = 4
_FLUSH = b"0000"
_ARGUMENT = b"argument "
_TAKES_A_VALUE = (b"--prefix", b"--format", b"--mtime", b"-o", b"--output")


class NotServed(Exception):
    """It asks for something that is not served, or in no form that git would understand."""


async def checked(
    pieces: AsyncIterator[bytes], repository: Repository, hidden: tuple[str, ...]
) -> AsyncIterator[bytes]:
    """Pass a request on, once it is known to name no reference that is hidden."""
    asked = bytearray()
    arguments: list[bytes] = []
    place = 0
    async for piece in pieces:
        asked += piece
        while (line := _line(asked, place)) is not None:
            place += max(len(line), _LENGTH)
            if line == _FLUSH:
                yield b"".join(map(_packet, _with_whole_name(arguments, repository))) + _FLUSH + asked[place:]
                return
            argument = line[_LENGTH:].removeprefix(_ARGUMENT).rstrip(b"\n")
            if _names_hidden(argument, repository, hidden):
                raise NotServed
            arguments.append(argument)
        if len(asked) > MOST_BYTES:
            raise NotServed
    raise NotServed


def _line(asked: bytearray, place: int) -> bytes | None:
    """The next line with its length before it, or nothing where it has not come yet."""
    length = bytes(asked[place : place + _LENGTH])
    if len(length) < _LENGTH:
        return None
    if length == _FLUSH:
        return length
    try:
        size = int(length, 16)
    except ValueError:
        raise NotServed from None
    if size <= _LENGTH:
        raise NotServed
    return bytes(asked[place : place + size]) if len(asked) >= place + size else None


def _packet(argument: bytes) -> bytes:
    return b"%04x%s%s\n" % (_LENGTH + len(_ARGUMENT) + len(argument) + 1, _ARGUMENT, argument)


def _with_whole_name(arguments: list[bytes], repository: Repository) -> list[bytes]:
    """The same, but for what is to be packed where that could be a branch or a tag: then it is the branch."""
    for place, argument in enumerate(arguments):
        if argument.startswith(b"-") or (place and arguments[place - 1] in _TAKES_A_VALUE):
            continue
        name = argument.partition(b":")[0]
        if repository.tip(HEADS + name) is not None and repository.tip(TAGS + name) is not None:
            return [*arguments[:place], HEADS + argument, *arguments[place + 1 :]]
        break
    return arguments


def _names_hidden(argument: bytes, repository: Repository, hidden: tuple[str, ...]) -> bool:
    """Whether git would take it for a hidden reference, with or without ``refs/`` before it."""
    name = argument.partition(b":")[0]
    return any(
        ref.startswith(prefix.encode() + b"/") and repository.tip(ref) is not None
        for ref in (name, b"refs/" + name)
        for prefix in hidden
    )
