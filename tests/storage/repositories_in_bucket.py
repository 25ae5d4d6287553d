"""Repositories of the shared instance in a real S3 server, with ``INGOT_TEST_REPOSITORIES=bucket``."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.client import Api, User
from tests.storage.s3_server import S3Server, running_s3_server

VARIABLE = "INGOT_TEST_REPOSITORIES"
STORAGE = "cloud"


@contextmanager
def bucket_if_chosen(folders: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Yield the settings of an instance with repositories in a bucket; none if the test run has not chosen that."""
    if os.environ.get(VARIABLE) != "bucket":
        yield {}
        return
    with running_s3_server(folders.mktemp("s3")) as server:
        yield bucket_settings(server, "repositories")


def bucket_settings(server: S3Server, bucket: str) -> dict[str, Any]:
    """Create a bucket; return the settings of an instance whose storage ``cloud`` is in it."""
    return {**server.settings(bucket, ""), "repository_storages": f"{STORAGE}=bucket"}


def use_bucket(api: Api, root: User) -> None:
    """Let the instance create new repositories in the bucket."""
    sent = api.put("/application/settings", root, repository_storages_weighted={STORAGE: 100, "default": 0})
    assert sent.status_code == 200, sent.text
