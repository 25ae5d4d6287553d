"""What a client asks of ``git upload-archive``: it finds every reference by name, so ours are kept from it here."""

from collections.abc import AsyncIterator

from ingot.git.repository import Repository

MOST_BYTES = 64 * 1024
_LENGTH = 4
_FLUSH = b"0000"
_ARGUMENT = b"argument "


class NotServed(Exception):
    """It asks for something that is not served, or in no form that git would understand."""


async def checked(
    pieces: AsyncIterator[bytes], repository: Repository, hidden: tuple[str, ...]
) -> AsyncIterator[bytes]:
    """Pass a request on, once it is known to name no reference that is hidden."""
    asked = bytearray()
    place = 0
    async for piece in pieces:
        asked += piece
        while (line := _line(asked, place)) is not None:
            place += max(len(line), _LENGTH)
            if line == _FLUSH:
                yield bytes(asked)
                return
            if _names_hidden(line[_LENGTH:].removeprefix(_ARGUMENT).rstrip(b"\n"), repository, hidden):
                raise NotServed
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


def _names_hidden(argument: bytes, repository: Repository, hidden: tuple[str, ...]) -> bool:
    """Whether git would take it for a hidden reference, with or without ``refs/`` before it."""
    name = argument.partition(b":")[0]
    return any(
        ref.startswith(prefix.encode() + b"/") and repository.tip(ref) is not None
        for ref in (name, b"refs/" + name)
        for prefix in hidden
    )
