"""What clients of large files get: the bodies of Git LFS' protocol."""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import UNSET, UnsetType

from ingot.lfs.params import ObjectParams
from ingot.lfs.tables import LfsLock


class Action(msgspec.Struct):
    """Where to go with a file, and with which headers."""

    href: str
    header: Mapping[str, str]


class ObjectError(msgspec.Struct):
    """Why a file cannot be had or brought."""

    code: int
    message: str


class ObjectView(msgspec.Struct):
    """What is to be done with a file; nothing where it is there already."""

    oid: str
    size: int
    authenticated: bool | UnsetType = UNSET
    actions: dict[str, Action] | UnsetType = UNSET
    error: ObjectError | UnsetType = UNSET


class BatchView(msgspec.Struct):
    """The answer for many files at once."""

    objects: list[ObjectView]
    transfer: str = "basic"
    hash_algo: str = "sha256"


class OwnerView(msgspec.Struct):
    """Who locked a file."""

    name: str


class LockView(msgspec.Struct):
    """A lock."""

    id: str
    path: str
    locked_at: str
    owner: OwnerView


def download_views(
    wanted: Iterable[ObjectParams], had: Mapping[str, int], url: str, header: Mapping[str, str]
) -> BatchView:
    """Where to get the files that a project has."""
    return BatchView([_download(each, had.get(each.oid), url, header) for each in wanted])


def _download(wanted: ObjectParams, size: int | None, url: str, header: Mapping[str, str]) -> ObjectView:
    if size is None:
        message = "Object does not exist on the server or you don't have permissions to access it"
        return ObjectView(wanted.oid, wanted.size, error=ObjectError(404, message))
    action = Action(f"{url}/gitlab-lfs/objects/{wanted.oid}", header)
    return ObjectView(wanted.oid, size, authenticated=True, actions={"download": action})


def upload_views(
    wanted: Iterable[ObjectParams],
    had: Mapping[str, int],
    url: str,
    header: Mapping[str, str],
    most_megabytes: int,
) -> BatchView:
    """Where to bring the files that a project has not got yet."""
    return BatchView([_upload(each, each.oid in had, url, header, most_megabytes) for each in wanted])


def _upload(wanted: ObjectParams, there: bool, url: str, header: Mapping[str, str], most_megabytes: int) -> ObjectView:
    if there:
        return ObjectView(wanted.oid, wanted.size)
    if most_megabytes and wanted.size > most_megabytes * 2**20:
        message = f"The file is larger than the {most_megabytes} MB that are allowed."
        return ObjectView(wanted.oid, wanted.size, error=ObjectError(422, message))
    actions = {
        "upload": Action(f"{url}/gitlab-lfs/objects/{wanted.oid}/{wanted.size}", header),
        "verify": Action(f"{url}/info/lfs/objects/verify", header),
    }
    return ObjectView(wanted.oid, wanted.size, authenticated=True, actions=actions)


def lock_view(lock: LfsLock) -> LockView:
    """One lock."""
    return LockView(str(lock.id), lock.path, lock.created_at, OwnerView(lock.owner_name))
