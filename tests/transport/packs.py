"""Packs written byte by byte, so that tests can say in them what git never would."""

import hashlib
import struct
import zlib

COMMIT, TREE, BLOB, TAG, OFS_DELTA = 1, 2, 3, 4, 6
_NAMES = {COMMIT: "commit", TREE: "tree", BLOB: "blob", TAG: "tag"}


def object_id(kind: int, content: bytes) -> str:
    """Return the id of an object."""
    return hashlib.sha1(f"{_NAMES[kind]} {len(content)}\0".encode() + content).hexdigest()


def commit_text(tree: str, message: bytes = b"Change\n", parent: str = "") -> bytes:
    """Return the content of a commit."""
    person = b"Ada <ada@example.org> 1500000000 +0000"
    above = f"tree {tree}\n" + (f"parent {parent}\n" if parent else "")
    return above.encode() + b"author " + person + b"\ncommitter " + person + b"\n\n" + message


def tree_text(*entries: tuple[bytes, str]) -> bytes:
    """Return the content of a tree of files."""
    return b"".join(b"100644 " + name + b"\0" + bytes.fromhex(oid) for name, oid in sorted(entries))


class PackWriter:
    """Pack under construction."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 12

    def add(self, kind: int, content: bytes) -> str:
        """Add an object; return its id."""
        self._append(_header(kind, len(content)) + zlib.compress(content))
        return object_id(kind, content)

    def add_delta(self, base: int, delta: bytes) -> int:
        """Add a delta of the object at a position; return its own position."""
        position = self._size
        self._append(_header(OFS_DELTA, len(delta)) + _offset(position - base) + zlib.compress(delta))
        return position

    @property
    def position(self) -> int:
        """Position of the next object."""
        return self._size

    def finish(self, count: int | None = None) -> bytes:
        """Return the pack; ``count`` is the number of objects that it claims."""
        pack = b"PACK" + struct.pack(">II", 2, len(self._parts) if count is None else count) + b"".join(self._parts)
        return pack + hashlib.sha1(pack).digest()

    def _append(self, part: bytes) -> None:
        self._parts.append(part)
        self._size += len(part)


def copy_delta(source_size: int, *copies: tuple[int, int], added: bytes = b"") -> bytes:
    """Return a delta that copies ranges of its base (at most 65,535 bytes each) and appends up to 127 bytes."""
    total = sum(size for _, size in copies) + len(added)
    steps = b"".join(b"\xbf" + struct.pack("<I", start) + struct.pack("<H", size) for start, size in copies)
    return _size(source_size) + _size(total) + steps + (bytes([len(added)]) + added if added else b"")


def _header(kind: int, size: int) -> bytes:
    header = bytearray([kind << 4 | size & 0x0F])
    size >>= 4
    while size:
        header[-1] |= 0x80
        header.append(size & 0x7F)
        size >>= 7
    return bytes(header)


def _size(number: int) -> bytes:
    parts = bytearray([number & 0x7F])
    while number := number >> 7:
        parts[-1] |= 0x80
        parts.append(number & 0x7F)
    return bytes(parts)


def _offset(distance: int) -> bytes:
    parts = [distance & 0x7F]
    while distance := distance >> 7:
        distance -= 1
        parts.insert(0, 0x80 | distance & 0x7F)
    return bytes(parts)
