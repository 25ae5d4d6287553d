"""Request bodies of the Git LFS protocol and parameters of the raw file endpoint."""

from typing import Annotated, Literal

import msgspec

from ingot.repositories.files.params import GetFile

Oid = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
Size = Annotated[int, msgspec.Meta(ge=0, le=2**62)]


class LfsObjectParams(msgspec.Struct):
    """An object to upload or download."""

    oid: Oid
    size: Size


class LfsBatchParams(msgspec.Struct):
    """Objects to transfer; the ref is ignored."""

    operation: Literal["download", "upload"]
    objects: list[LfsObjectParams]
    transfers: list[str] | None = None
    hash_algo: str | None = None


class LockParams(msgspec.Struct):
    """File to lock."""

    path: str


class UnlockParams(msgspec.Struct):
    """Option to remove another user's lock."""

    force: bool | None = None


class VerifyLocksParams(msgspec.Struct):
    """Page of the locks."""

    cursor: str | None = None
    limit: int | None = None


class GetRawFile(GetFile):
    """Branch, tag or commit of a file, and the option to resolve LFS pointers."""

    lfs: bool = False
