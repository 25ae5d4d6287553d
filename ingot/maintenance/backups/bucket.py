"""Backups in the bucket: ``bucket:NAME`` instead of the path of a file."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingot.core.errors import Unavailable
from ingot.core.settings import Settings
from ingot.core.storage.configuration import file_storage
from ingot.core.storage.drivers import CHUNK_BYTES
from ingot.core.storage.s3 import BucketDriver
from ingot.maintenance.backups.layout import BackupError

PREFIX = "bucket:"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


@contextmanager
def file_for_writing(settings: Settings, target: str) -> Iterator[Path]:
    """Yield the path to write a backup to; one for the bucket is uploaded after the block and then deleted."""
    if not target.startswith(PREFIX):
        yield Path(target)
        return
    name, bucket = target.removeprefix(PREFIX), _bucket_for(settings, target)
    path = file_storage(settings, "backups").incoming_path()
    try:
        if bucket.size_of(name) is not None:
            raise BackupError(f"{target} already exists; a backup never overwrites a file")
        yield path
        bucket.publish(name, path)
    except Unavailable as error:
        raise BackupError(f"The backup could not be stored: {error}") from error
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def file_for_reading(settings: Settings, source: str) -> Iterator[Path]:
    """Yield the path of a backup; one in the bucket is downloaded and deleted after the block."""
    if not source.startswith(PREFIX):
        yield Path(source)
        return
    name, bucket = source.removeprefix(PREFIX), _bucket_for(settings, source)
    descriptor, path = tempfile.mkstemp(prefix="ingot-restore-")
    try:
        with os.fdopen(descriptor, "wb") as copy, bucket.open(name) as stored:
            shutil.copyfileobj(stored, copy, CHUNK_BYTES)
        yield Path(path)
    except FileNotFoundError:
        raise BackupError(f"There is no backup {source}") from None
    except Unavailable as error:
        raise BackupError(f"The backup could not be read: {error}") from error
    finally:
        Path(path).unlink(missing_ok=True)


def _bucket_for(settings: Settings, target: str) -> BucketDriver:
    bucket = file_storage(settings, "backups").bucket
    if bucket is None:
        raise BackupError(f"{target} needs a bucket: set INGOT_S3_BUCKET")
    if not _NAME.fullmatch(target.removeprefix(PREFIX)):
        raise BackupError(f"{target} must be named with letters, digits, dots, dashes and underscores")
    return bucket
