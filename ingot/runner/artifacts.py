"""Transfer of artifacts: upload after the script, download of the archives of earlier jobs."""

import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from zipfile import BadZipFile

from ingot.runner.archives import UnsafeArchive, extract_zip, write_gzip, write_zip
from ingot.runner.assignment import ArtifactSpec, DependencySpec
from ingot.runner.client import JobClient
from ingot.runner.environment import ShellEnvironment
from ingot.runner.http import NoResponse, Reply, retry_after
from ingot.runner.patterns import matching_files

_RETRY_PAUSES = (1.0, 3.0)
_SUFFIXES = {"zip": ".zip", "gzip": ".gz", "raw": ""}
_UNTRACKED_SECONDS = 300.0


class TransferFailed(Exception):
    """An artifact could not be uploaded or downloaded."""


class ArtifactTransfer:
    """Transfers of one job."""

    def __init__(
        self, project: Path, temporary: Path, environment: ShellEnvironment, log: Callable[[str], None]
    ) -> None:
        self._project = project
        self._temporary = temporary
        self._environment = environment
        self._log = log

    def download(self, url: str, dependency: DependencySpec) -> None:
        """Extract the archive of an earlier job into the project; raise TransferFailed if it cannot be had."""
        archive = self._temporary / f"dependency-{dependency.id}.zip"
        self._log(f"Downloading artifacts for {dependency.name} ({dependency.id})...")
        client = JobClient(url, dependency.id, dependency.token)
        try:
            reply = _with_retries(lambda: client.download(archive))
            if reply.status != 200:
                raise TransferFailed(f"The server answered {reply.status} to the download of {dependency.name}")
            count = extract_zip(archive, self._project)
        except (BadZipFile, UnsafeArchive, OSError) as error:
            raise TransferFailed(f"The archive of {dependency.name} cannot be extracted: {error}") from error
        finally:
            archive.unlink(missing_ok=True)
        self._log(f"Extracted {count} entries")

    def upload(self, client: JobClient, spec: ArtifactSpec, git: Mapping[str, str]) -> None:
        """Upload the files of one entry; raise TransferFailed if the server does not accept them."""
        kind = spec.artifact_type or "archive"
        form = spec.artifact_format or "zip"
        self._log(f"Uploading artifacts ({kind})...")
        files = self._files(spec, git)
        if not files:
            self._log("\x1b[31;1mNo files to upload\x1b[0;m")
            return
        target = self._temporary / f"artifact-{kind}"
        try:
            self._write(target, form, files)
            parameters = {"artifact_type": kind, "artifact_format": form}
            if spec.expire_in:
                parameters["expire_in"] = self._environment.expand(spec.expire_in)
            filename = self._filename(spec, kind, form)
            reply = _with_retries(lambda: client.upload(target, filename, parameters))
        except OSError as error:
            raise TransferFailed(f"The files cannot be read: {error}") from error
        finally:
            target.unlink(missing_ok=True)
        if reply.status == 413:
            raise TransferFailed(f"The artifacts ({kind}) are larger than the server allows")
        if reply.status != 201:
            raise TransferFailed(f"The server answered {reply.status} to the upload of artifacts ({kind})")
        self._log(f"Uploaded {len(files)} {'file' if len(files) == 1 else 'files'}")

    def _files(self, spec: ArtifactSpec, git: Mapping[str, str]) -> list[str]:
        expand = self._environment.expand
        exclude = list(map(expand, spec.exclude or ()))
        files, unmatched = matching_files(self._project, map(expand, spec.paths or ()), exclude)
        for pattern in unmatched:
            self._log(f"\x1b[33;1m{pattern}: no matching files\x1b[0;m")
        if spec.untracked:
            untracked, _ = matching_files(self._project, untracked_files(self._project, git), exclude)
            files = sorted({*files, *untracked})
        return files

    def _write(self, target: Path, form: str, files: list[str]) -> None:
        regular = [name for name in files if not (self._project / name).is_symlink()]
        if form == "gzip":
            write_gzip(target, self._project, regular)
        elif form == "raw":
            target.write_bytes((self._project / regular[0]).read_bytes())
        else:
            write_zip(target, self._project, files)

    def _filename(self, spec: ArtifactSpec, kind: str, form: str) -> str:
        name = self._environment.expand(spec.name or "").replace("/", "-").strip()
        if not name:
            name = "artifacts" if kind == "archive" else kind
        suffix = _SUFFIXES.get(form, "")
        return name if name.endswith(suffix) else name + suffix


def untracked_files(project: Path, environment: Mapping[str, str]) -> list[str]:
    """Return the files that git does not track, also ignored ones."""
    listing = subprocess.run(
        ["git", "ls-files", "-o", "-z"],
        cwd=project,
        env=dict(environment),
        capture_output=True,
        check=False,
        timeout=_UNTRACKED_SECONDS,
    )
    names = listing.stdout.decode(errors="surrogateescape").split("\0")
    # As patterns, the names must match themselves.
    return [name for name in names if name and not any(character in name for character in "*?[{")]


def _with_retries(call: Callable[[], Reply]) -> Reply:
    """Repeat a transfer that failed for a reason that may pass."""
    for pause in _RETRY_PAUSES:
        try:
            reply = call()
        except (NoResponse, OSError):  # The last attempt reports it.
            time.sleep(pause)
            continue
        if not reply.temporary_failure:
            return reply
        time.sleep(retry_after(reply, pause))
    try:
        return call()
    except NoResponse as error:
        raise TransferFailed(f"The server cannot be reached: {error}") from error
