"""Check of the bucket, and the sizes of the files in it."""

import secrets
from collections.abc import Iterator, Mapping

from ingot.core.errors import Unavailable
from ingot.core.settings import Settings
from ingot.core.storage.configuration import file_storage, store_client
from ingot.core.storage.drivers import INCOMING_FOLDER
from ingot.core.storage.files import FileStorage
from ingot.maintenance.doctor.findings import DoctorFinding


def check_bucket(settings: Settings) -> Iterator[DoctorFinding]:
    """Write, read and delete a small object."""
    client, storage = store_client(settings), file_storage(settings, "lfs")
    if client is None or storage.bucket is None:
        return
    content, key = secrets.token_bytes(16), f"{INCOMING_FOLDER}/doctor-{secrets.token_hex(8)}"
    try:
        client.check()
        path = storage.incoming_path()
        try:
            path.write_bytes(content)
            storage.bucket.publish(key, path)
        finally:
            path.unlink(missing_ok=True)
        returned = b"".join(storage.bucket.pieces(key, 0, len(content)))
        storage.bucket.delete(key)
    except (Unavailable, OSError) as error:
        yield DoctorFinding(f"The bucket {settings.s3_bucket} cannot be used: {error}", blocks_other_checks=True)
        return
    if returned != content:
        yield DoctorFinding(f"The bucket {settings.s3_bucket} returns other content than was stored")


def sizes_in_bucket(storage: FileStorage) -> dict[str, int]:
    """Return the sizes of all files in the bucket; to list them is much faster than to look up each."""
    return {} if storage.bucket is None else {stored.key: stored.size for stored in storage.bucket.objects()}


def stored_size_of(storage: FileStorage, key: str, sizes: Mapping[str, int]) -> int | None:
    """Return the size of a file on the disk or in the bucket; None if it is missing."""
    on_disk = storage.disk.size_of(key)
    if on_disk is not None or storage.bucket is None:
        return on_disk
    # A file that is not in the list was stored or moved meanwhile.
    return sizes[key] if key in sizes else storage.size_of(key)
