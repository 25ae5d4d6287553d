"""What clients of large files get: the bodies of Git LFS' protocol."""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import UNSET, UnsetType

from ingot.repositories.lfs.params import LfsObjectParams
from ingot.repositories.lfs.tables import LfsLock


class LfsAction(msgspec.Struct):
    """Where to go with a file, and with which headers."""

    href: str
    header: Mapping[str, str]


class LfsObjectError(msgspec.Struct):
    """Why a file cannot be had or brought."""

    code: int
    message: str


class LfsObjectView(msgspec.Struct):
    """What is to be done with a file; nothing where it is there already."""

    oid: str
    size: int
    authenticated: bool | UnsetType = UNSET
    actions: dict[str, LfsAction] | UnsetType = UNSET
    error: LfsObjectError | UnsetType = UNSET


class LfsBatchView(msgspec.Struct):
    """The answer for many files at once."""

    objects: list[LfsObjectView]
    transfer: str = "basic"
    hash_algo: str = "sha256"


class LockOwnerView(msgspec.Struct):
    """Who locked a file."""

    name: str


class LfsLockView(msgspec.Struct):
    """A lock."""

    id: str
    path: str
    locked_at: str
    owner: LockOwnerView


def download_views(
    params: Iterable[LfsObjectParams], had: Mapping[str, int], url: str, header: Mapping[str, str]
) -> LfsBatchView:
    """Where to get the files that a project has."""
    return LfsBatchView([_download(each, had.get(each.oid), url, header) for each in params])


def _download(params: LfsObjectParams, size: int | None, url: str, header: Mapping[str, str]) -> LfsObjectView:
    if size is None:
        message = "Object does not exist on the server or you don't have permissions to access it"
        return LfsObjectView(params.oid, params.size, error=LfsObjectError(404, message))
    action = LfsAction(f"{url}/gitlab-lfs/objects/{params.oid}", header)
    return LfsObjectView(params.oid, size, authenticated=True, actions={"download": action})


def upload_views(
    params: Iterable[LfsObjectParams],
    had: Mapping[str, int],
    url: str,
    header: Mapping[str, str],
    most_megabytes: int,
) -> LfsBatchView:
    """Where to bring the files that a project has not got yet."""
    return LfsBatchView([_upload(each, each.oid in had, url, header, most_megabytes) for each in params])


def _upload(
    params: LfsObjectParams, there: bool, url: str, header: Mapping[str, str], most_megabytes: int
) -> LfsObjectView:
    if there:
        return LfsObjectView(params.oid, params.size)
    if most_megabytes and params.size > most_megabytes * 2**20:
        message = f"The file is larger than the {most_megabytes} MB that are allowed."
        return LfsObjectView(params.oid, params.size, error=LfsObjectError(422, message))
    actions = {
        "upload": LfsAction(f"{url}/gitlab-lfs/objects/{params.oid}/{params.size}", header),
        "verify": LfsAction(f"{url}/info/lfs/objects/verify", header),
    }
    return LfsObjectView(params.oid, params.size, authenticated=True, actions=actions)


def lock_view(lock: LfsLock) -> LfsLockView:
    """One lock."""
    return LfsLockView(str(lock.id), lock.path, lock.created_at, LockOwnerView(lock.owner_name))
