"""SeaweedFS, a real S3 server, as a separate process; it comes as a Python package."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.free_ports import free_ports
from tests.server.process import until

PROGRAM = Path(sys.executable).parent / "weed"
ACCESS_KEY, SECRET_KEY = "access-key-of-the-tests", "secret-key-of-the-tests"
_GRPC_OFFSET = 10_000


@dataclass(frozen=True)
class S3Server:
    """Running server."""

    url: str
    filer_url: str
    """Address at which the server shows buckets as folders."""

    def settings(self, bucket: str, kinds: str = "all", *, public: bool = False) -> dict[str, Any]:
        """Create a bucket; return the settings of an instance that stores these kinds of files in it."""
        httpx.post(f"{self.filer_url}/buckets/{bucket}/").raise_for_status()
        return {
            "object_storage": kinds,
            "s3_bucket": bucket,
            "s3_endpoint": self.url,
            "s3_public_url": self.url if public else "",
            "s3_access_key": ACCESS_KEY,
            "s3_secret_key": SECRET_KEY,
        }


@contextmanager
def running_s3_server(folder: Path) -> Iterator[S3Server]:
    """Run the server until the block ends."""
    credentials = [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}]
    identity = {"name": "tests", "credentials": credentials, "actions": ["Admin", "Read", "Write", "List"]}
    config = folder / "s3.json"
    config.write_text(json.dumps({"identities": [identity]}))
    (folder / "data").mkdir()
    # Each has a port for gRPC too, at a fixed distance.
    master, volume, filer, s3 = free_ports(4, _GRPC_OFFSET)
    arguments = [
        *("-dir", folder / "data", "-ip", "127.0.0.1", "-ip.bind", "127.0.0.1"),
        *("-master.port", master, "-volume.port", volume, "-filer", "-filer.port", filer, "-s3", "-s3.port", s3),
        # Both have a fixed port, which two servers cannot share.
        *("-s3.port.iceberg", 0, "-s3.port.lance", 0),
        # Each bucket, of which tests create many, takes several volumes.
        *("-s3.config", config, "-master.volumeSizeLimitMB", 64, "-volume.max", 1000, "-master.telemetry=false"),
    ]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([PROGRAM, "-logtostderr=true", "server", *map(str, arguments)], stderr=log)
    server = S3Server(f"http://127.0.0.1:{s3}", f"http://127.0.0.1:{filer}")
    try:
        # The file server behind it starts later than the interface.
        until("the S3 server starts", lambda: _responds(f"{server.url}/status") and _accepts_files(server))
        yield server
    finally:
        process.kill()
        process.wait()


def _responds(url: str) -> bool:
    try:
        return httpx.get(url).status_code < 500
    except httpx.TransportError:
        return False


def _accepts_files(server: S3Server) -> bool:
    """Return whether a file can be stored, for which a volume is needed."""
    try:
        return httpx.post(f"{server.filer_url}/ready/file", files={"file": b"x"}).is_success
    except httpx.TransportError:
        return False
