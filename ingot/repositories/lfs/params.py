"""What clients of large files send: the bodies of Git LFS' protocol, and what callers of the API ask."""

from typing import Annotated, Literal

import msgspec

from ingot.repositories.files.params import GetFile

Oid = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
Size = Annotated[int, msgspec.Meta(ge=0, le=2**62)]


class LfsObjectParams(msgspec.Struct):
    """A file that a client has or wants."""

    oid: Oid
    size: Size


class LfsBatchParams(msgspec.Struct):
    """The files that are about to be transferred; which reference they belong to makes no difference here."""

    operation: Literal["download", "upload"]
    objects: list[LfsObjectParams]
    transfers: list[str] | None = None
    hash_algo: str | None = None


class LockParams(msgspec.Struct):
    """The file to lock."""

    path: str


class UnlockParams(msgspec.Struct):
    """Whether the lock may be somebody else's."""

    force: bool | None = None


class VerifyLocksParams(msgspec.Struct):
    """Which part of the locks."""

    cursor: str | None = None
    limit: int | None = None


class GetRawFile(GetFile):
    """A file as a branch, a tag or a commit has it, or the large one that it stands for."""

    lfs: bool = False
