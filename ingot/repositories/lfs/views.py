"""Response bodies of the Git LFS protocol."""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import UNSET, UnsetType

from ingot.repositories.lfs.params import LfsObjectParams
from ingot.repositories.lfs.tables import LfsLock


class LfsAction(msgspec.Struct):
    """URL and headers of a transfer."""

    href: str
    header: Mapping[str, str]


class LfsObjectError(msgspec.Struct):
    """Reason why an object cannot be transferred."""

    code: int
    message: str


class LfsObjectView(msgspec.Struct):
    """Transfer of an object; without actions if it exists already."""

    oid: str
    size: int
    authenticated: bool | UnsetType = UNSET
    actions: dict[str, LfsAction] | UnsetType = UNSET
    error: LfsObjectError | UnsetType = UNSET


class LfsBatchView(msgspec.Struct):
    """Response of the batch endpoint."""

    objects: list[LfsObjectView]
    transfer: str = "basic"
    hash_algo: str = "sha256"


class LockOwnerView(msgspec.Struct):
    """Owner of a lock."""

    name: str


class LfsLockView(msgspec.Struct):
    """Lock on a file."""

    id: str
    path: str
    locked_at: str
    owner: LockOwnerView


def download_views(
    params: Iterable[LfsObjectParams], sizes: Mapping[str, int], url: str, header: Mapping[str, str]
) -> LfsBatchView:
    """Return the download actions for the objects that a project has, and errors for the others."""
    return LfsBatchView([_download(each, sizes.get(each.oid), url, header) for each in params])


def _download(params: LfsObjectParams, size: int | None, url: str, header: Mapping[str, str]) -> LfsObjectView:
    if size is None:
        message = "Object does not exist on the server or you don't have permissions to access it"
        return LfsObjectView(params.oid, params.size, error=LfsObjectError(404, message))
    action = LfsAction(f"{url}/gitlab-lfs/objects/{params.oid}", header)
    return LfsObjectView(params.oid, size, authenticated=True, actions={"download": action})


def upload_views(
    params: Iterable[LfsObjectParams],
    sizes: Mapping[str, int],
    url: str,
    header: Mapping[str, str],
    max_megabytes: int,
) -> LfsBatchView:
    """Return the upload actions for the objects that a project does not have yet."""
    return LfsBatchView([_upload(each, each.oid in sizes, url, header, max_megabytes) for each in params])


def _upload(
    params: LfsObjectParams, exists: bool, url: str, header: Mapping[str, str], max_megabytes: int
) -> LfsObjectView:
    if exists:
        return LfsObjectView(params.oid, params.size)
    if max_megabytes and params.size > max_megabytes * 2**20:
        message = f"The file is larger than the {max_megabytes} MB that are allowed."
        return LfsObjectView(params.oid, params.size, error=LfsObjectError(422, message))
    actions = {
        "upload": LfsAction(f"{url}/gitlab-lfs/objects/{params.oid}/{params.size}", header),
        "verify": LfsAction(f"{url}/info/lfs/objects/verify", header),
    }
    return LfsObjectView(params.oid, params.size, authenticated=True, actions=actions)


def lock_view(lock: LfsLock) -> LfsLockView:
    """Return the view of a lock."""
    return LfsLockView(str(lock.id), lock.path, lock.created_at, LockOwnerView(lock.owner_name))
