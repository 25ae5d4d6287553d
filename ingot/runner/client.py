"""Calls of the runner protocol."""

import platform
import secrets
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from ingot.runner.http import (
    Reply,
    ServerConnection,
    exchange,
    exchange_with_retries,
    json_body,
)

_API = "/api/v4"
_POLL_SECONDS = 120.0
"""Longer than any server holds a request for a job."""
_TRANSFER_SECONDS = 300.0
_CHUNK = 64 * 1024
_FEATURES = {
    "variables": True,
    "artifacts": True,
    "artifacts_exclude": True,
    "upload_multiple_artifacts": True,
    "upload_raw_artifacts": True,
    "cache": True,
    "fallback_cache_keys": True,
    "refspecs": True,
    "masking": True,
    "raw_variables": True,
    "return_exit_code": True,
    "multi_build_steps": True,
    "trace_reset": True,
    "trace_checksum": True,
    "trace_size": True,
    "cancelable": True,
    "cancel_gracefully": True,
    "vault_secrets": True,
    "shared": False,
}


class Poll(msgspec.Struct, frozen=True):
    """Response to a request for a job."""

    reply: Reply
    last_update: str | None


class RunnerClient:
    """Calls of a runner to its server."""

    def __init__(self, url: str, token: str, system_id: str) -> None:
        self.url = url.rstrip("/")
        self._token = token
        self._system_id = system_id

    def poll(self, connection: ServerConnection, last_update: str | None) -> Poll:
        """Request a job; the server may hold the request until there is one."""
        body = {
            "token": self._token,
            "system_id": self._system_id,
            "info": runner_info(),
            **({"last_update": last_update} if last_update else {}),
        }
        reply = exchange(connection, "POST", f"{_API}/jobs/request", _headers(), json_body(body))
        return Poll(reply, reply.headers.get("x-gitlab-last-update", last_update))

    def poll_connection(self) -> ServerConnection:
        """Return a connection on which the server may hold a request for a job."""
        return ServerConnection(self.url, _POLL_SECONDS)


class JobClient:
    """Calls of a job to its server."""

    def __init__(self, url: str, job_id: int, token: str) -> None:
        self._url = url.rstrip("/")
        self._job_id = job_id
        self._token = token

    def append_trace(self, data: bytes, offset: int) -> Reply:
        """Send a part of the log."""
        headers = {
            **_headers(self._token),
            "Content-Type": "text/plain",
            "Content-Range": f"{offset}-{offset + len(data) - 1}",
        }
        path = f"{_API}/jobs/{self._job_id}/trace?debug_trace=false"
        return exchange(ServerConnection(self._url), "PATCH", path, headers, data)

    def update(self, state: str, **fields: Any) -> Reply:
        """Send the state of the job."""
        body = json_body({"token": self._token, "info": runner_info(), "state": state, **fields})
        return exchange(ServerConnection(self._url), "PUT", f"{_API}/jobs/{self._job_id}", _headers(self._token), body)

    def upload(self, file: Path, filename: str, parameters: dict[str, str]) -> Reply:
        """Upload an artifact as one part of a multipart body, without loading it into memory."""
        boundary = secrets.token_hex(16)
        headers = {**_headers(self._token), "Content-Type": f"multipart/form-data; boundary={boundary}"}
        path = f"{_API}/jobs/{self._job_id}/artifacts?{urlencode(parameters)}"
        body = _multipart(file, filename, boundary)
        return exchange(ServerConnection(self._url, _TRANSFER_SECONDS), "POST", path, headers, body)

    def download(self, target: Path) -> Reply:
        """Download the archive of the job whose token this is; the body is in the file, unless it is an error."""
        connection = ServerConnection(self._url, _TRANSFER_SECONDS)
        try:
            path = f"{_API}/jobs/{self._job_id}/artifacts?direct_download=false"
            connection.send("GET", path, {**_headers(self._token), "Accept": "*/*"}, None)
            response = connection.response()
            fields = {name.lower(): value for name, value in response.getheaders()}
            if response.status != 200:
                return Reply(response.status, fields, response.read())
            with target.open("wb") as file:
                while piece := response.read(_CHUNK):
                    file.write(piece)
            return Reply(200, fields)
        finally:
            connection.close()


def register(url: str, registration_token: str, description: str, tags: Iterable[str]) -> Reply:
    """Register a runner."""
    tag_list = ",".join(tags)
    body = {
        "token": registration_token,
        "description": description,
        "tag_list": tag_list,
        "run_untagged": not tag_list,
        "info": runner_info(),
    }
    return exchange_with_retries(url.rstrip("/"), "POST", f"{_API}/runners", _headers(), json_body(body))


def verify(url: str, token: str, system_id: str) -> Reply:
    """Ask the server whether it knows a runner."""
    body = json_body({"token": token, "system_id": system_id})
    return exchange_with_retries(url.rstrip("/"), "POST", f"{_API}/runners/verify", _headers(), body)


def runner_version() -> str:
    """Return the version of this program."""
    try:
        return version("ingot-forge")
    except PackageNotFoundError:  # It runs from a directory without installation.
        return "0"


def runner_info() -> dict[str, Any]:
    """Describe this runner."""
    return {
        "name": "ingot-runner",
        "version": runner_version(),
        "platform": platform.system().lower(),
        "architecture": platform.machine(),
        "executor": "shell",
        "shell": "bash",
        "features": _FEATURES,
    }


def _headers(job_token: str | None = None) -> dict[str, str]:
    headers = {
        "User-Agent": f"ingot-runner {runner_version()}",
        "Accept": "application/json",
        "Content-Type": "application/json",
    }
    return headers if job_token is None else {**headers, "JOB-TOKEN": job_token}


def _multipart(file: Path, filename: str, boundary: str) -> Iterator[bytes]:
    yield (
        f"--{boundary}\r\n"
        f'Content-Disposition: form-data; name="file"; filename="{quote(filename, safe=" ()[]{}@+,~!")}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    ).encode()
    with file.open("rb") as source:
        while piece := source.read(_CHUNK):
            yield piece
    yield f"\r\n--{boundary}--\r\n".encode()
