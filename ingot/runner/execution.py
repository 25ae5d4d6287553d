"""Execution of one job: checkout, caches, dependencies, steps, artifacts and the final state."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from ingot.runner.artifacts import ArtifactTransfer, TransferFailed
from ingot.runner.assignment import AssignedJob, StepSpec, VariableSpec
from ingot.runner.caches import CacheDirectory
from ingot.runner.checkout import (
    Checkout,
    CheckoutFailed,
    credential_settings,
    git_environment,
    lfs_access,
    public_url,
    submodule_strategy,
)
from ingot.runner.client import JobClient, runner_version
from ingot.runner.environment import ShellEnvironment
from ingot.runner.lfs import LfsFailed, download_files, list_pointers, list_submodules, mark_unchanged
from ingot.runner.processes import JobCanceled, JobTimedOut, StopSwitch, run_process, script_command
from ingot.runner.release_cli import install_release_command
from ingot.runner.secret_mask import SecretMask
from ingot.runner.trace import Cancellation, JobTrace
from ingot.runner.vault import SecretFailed, resolve_secrets

_DEFAULT_TIMEOUT_SECONDS = 3600
_AFTER_SCRIPT_SECONDS = 300
_REPORT_SECONDS = 600.0
_ABORT_GRACE_SECONDS = 0.2
_ABORT_REPORT_SECONDS = 3.0
"""A server that ends together with its runner accepts requests for about a second."""


class JobResult(msgspec.Struct, frozen=True):
    """Outcome of a job."""

    state: str
    failure_reason: str | None = None
    exit_code: int | None = None
    message: str = "Job succeeded"


class _ScriptFailed(Exception):
    """A step ended with an error."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(f"exit code {exit_code}")
        self.exit_code = exit_code


class RunnerPaths(msgspec.Struct, frozen=True):
    """Directories of a runner."""

    builds: Path
    cache: Path
    running: Path


class JobExecution:
    """One job from its assignment to its final state."""

    def __init__(self, url: str, job: AssignedJob, paths: RunnerPaths, slot: int, clone_url: str | None = None) -> None:
        self._url = url
        self._job = job
        self._slot = slot
        self._clone_url = public_url(job.git_info.repo_url, clone_url)
        place = _project_place(job.git_info.repo_url)
        self._project = paths.builds / str(slot) / place
        self._temporary = self._project.with_name(f"{self._project.name}.tmp")
        self._commands = self._temporary / "bin"
        self._environment = self._job_environment(paths.builds)
        self._client = JobClient(url, job.id, job.token)
        features = job.server_features
        mask = SecretMask([job.token, *self._environment.secrets()], features.token_mask_prefixes or ())
        self._trace = JobTrace(self._client, mask, self._cancel)
        self._switch = StopSwitch()
        self._cancellation: Cancellation | None = None
        self._aborted = False
        self._deadline = time.monotonic() + self._timeout
        self._cache = CacheDirectory(paths.cache / place, self._project, self._environment, self._trace.line)
        self._transfer = ArtifactTransfer(self._project, self._temporary, self._environment, self._trace.line)

    @property
    def _timeout(self) -> int:
        return (self._job.runner_info and self._job.runner_info.timeout) or _DEFAULT_TIMEOUT_SECONDS

    def run(self) -> JobResult:
        """Execute the job, report the outcome to the server and return it."""
        self._trace.start()
        try:
            result = self._perform()
        except Exception as error:  # noqa: BLE001 - The server must learn of every outcome; the log shows the error.
            result = JobResult("failed", "runner_system_failure", None, f"{type(error).__name__}: {error}")
        finally:
            shutil.rmtree(self._temporary, ignore_errors=True)
        self._report(result)
        return result

    def abort(self) -> None:
        """End the job at once, because the runner ends."""
        self._aborted = True
        self._switch.grace_seconds = _ABORT_GRACE_SECONDS
        self._switch.stop(JobCanceled())

    def _perform(self) -> JobResult:
        self._temporary.mkdir(mode=0o700, parents=True, exist_ok=True)
        succeeded, result = False, JobResult("success")
        try:
            self._resolve_secrets()
            self._environment.write_files()
            install_release_command(self._commands, self._url)
            self._prepare()
            self._run_steps()
            succeeded = True
        except (_ScriptFailed, CheckoutFailed, TransferFailed, SecretFailed, JobTimedOut, JobCanceled) as error:
            result = self._failure(error)
        if self._aborted or self._cancellation in ("canceled", "abandoned"):
            return result
        if result.failure_reason == "runner_system_failure":
            return result
        self._run_after_script(result)
        try:
            self._store(succeeded=succeeded)
        except TransferFailed as error:
            if succeeded:
                return self._failure(error)
            self._trace.line(f"\x1b[31;1m{error}\x1b[0;m")
        return result

    def _resolve_secrets(self) -> None:
        """Fetch the secrets of the job, which are masked in its log from then on."""
        if not self._job.secrets:
            return
        with self._section("resolve_secrets"):
            variables = resolve_secrets(self._job.secrets, self._environment.expand, self._trace.line)
            self._trace.mask(variable.value for variable in variables)
            self._environment.add(variables)

    def _prepare(self) -> None:
        job = self._job
        with self._section("prepare_script"):
            self._trace.line(f"Running with ingot-runner {runner_version()} on {os.uname().nodename}, shell executor")
        with self._section("get_sources"):
            self._check_out()
        for cache in filter(None, job.cache or ()):
            with self._section("restore_cache"):
                self._switch.check()
                self._cache.restore(cache)
        for dependency in job.dependencies or ():
            if dependency.artifacts_file is not None:
                with self._section("download_artifacts"):
                    self._switch.check()
                    self._transfer.download(self._url, dependency)

    def _check_out(self) -> None:
        """Check out the commit, with as many attempts as the job allows."""
        checkout = Checkout(self._project, self._run_git, self._environment, self._trace.line)
        attempts = max(1, self._environment.number("GET_SOURCES_ATTEMPTS", 1))
        for attempt in range(1, attempts + 1):
            try:
                if checkout.prepare(self._job.git_info, self._clone_url, allow_fetch=self._job.allow_git_fetch):
                    self._download_lfs_files()
            except CheckoutFailed as error:
                if attempt == attempts:
                    raise
                self._trace.line(f"\x1b[33;1m{error}; trying again\x1b[0;m")
            else:
                return

    def _download_lfs_files(self) -> None:
        """Replace the pointers of Git LFS in the work trees by the files, unless the job does not want them."""
        if self._environment.get("GIT_LFS_SKIP_SMUDGE") in ("1", "true"):
            return
        strategy = submodule_strategy(self._environment)
        try:
            self._download_files_of(self._project, self._clone_url)
            if strategy != "none" and (self._project / ".gitmodules").exists():
                git = git_environment(self._process_environment())
                for folder, url in list_submodules(self._project, git, recursive=strategy == "recursive"):
                    self._download_files_of(folder, url)
        except (LfsFailed, OSError) as error:
            raise CheckoutFailed(f"Git LFS: {error}") from error

    def _download_files_of(self, folder: Path, url: str) -> None:
        git = git_environment(self._process_environment())
        pointers = list_pointers(folder, git)
        if not pointers:
            return
        lfs_url, credentials = lfs_access(url, self._clone_url, self._job.token)
        download_files(pointers, lfs_url, credentials, self._trace.line, self._switch.check)
        mark_unchanged(folder, git)

    def _run_steps(self) -> None:
        """Run the steps before after_script; raise _ScriptFailed for the first failure that counts."""
        failure: _ScriptFailed | None = None
        for step in self._job.steps or ():
            if step.name == "after_script" or (failure is not None and step.when == "on_success"):
                continue
            if failure is None and step.when == "on_failure":
                continue
            with self._section("release" if step.name == "release" else "step_script"):
                status = self._run_script(step, self._deadline)
            if status != 0 and not step.allow_failure:
                failure = failure or _ScriptFailed(status)
        if failure is not None:
            raise failure

    def _run_after_script(self, result: JobResult) -> None:
        steps = [step for step in self._job.steps or () if step.name == "after_script" and step.script]
        if not steps or result.failure_reason == "job_execution_timeout":
            return
        self._switch.reset()
        self._environment.set("CI_JOB_STATUS", "canceled" if self._cancellation else result.state)
        with self._section("after_script"):
            self._trace.line("Running after_script...")
            for step in steps:
                try:
                    status = self._run_script(step, time.monotonic() + _AFTER_SCRIPT_SECONDS)
                except (JobCanceled, JobTimedOut):
                    status = 1
                if status != 0:
                    self._trace.line("\x1b[33;1mafter_script failed, but the job continues\x1b[0;m")

    def _store(self, *, succeeded: bool) -> None:
        """Store caches and upload artifacts."""
        git = git_environment(self._process_environment())
        for cache in filter(None, self._job.cache or ()):
            with self._section("archive_cache"):
                self._cache.save(cache, git, succeeded=succeeded)
        wanted = ("always", "on_success" if succeeded else "on_failure")
        failure: TransferFailed | None = None
        for spec in filter(None, self._job.artifacts or ()):
            if (spec.when or "on_success") in wanted:
                with self._section("upload_artifacts"):
                    try:
                        self._transfer.upload(self._client, spec, git)
                    except TransferFailed as error:
                        failure = failure or error
        if failure is not None:
            raise failure

    def _run_script(self, step: StepSpec, deadline: float) -> int:
        if step.timeout:
            deadline = min(deadline, time.monotonic() + step.timeout)
        return run_process(
            script_command(step.script or (), self._temporary),
            directory=self._project,
            environment=self._process_environment(),
            output=self._trace.write,
            switch=self._switch,
            deadline=deadline,
        )

    def _run_git(self, arguments: list[str]) -> int:
        return run_process(
            ["git", *arguments],
            directory=self._project,
            environment=git_environment(self._process_environment()),
            output=self._trace.write,
            switch=self._switch,
            deadline=self._deadline,
        )

    def _process_environment(self) -> dict[str, str]:
        environment = {**self._environment.for_processes(os.environ), **credential_settings(self._clone_url)}
        # Last, so that programs of the machine have precedence.
        environment["PATH"] = f"{environment.get('PATH', os.defpath)}:{self._commands}"
        return environment

    def _failure(self, error: Exception) -> JobResult:
        if isinstance(error, _ScriptFailed):
            return JobResult("failed", "script_failure", error.exit_code, f"Job failed: {error}")
        if isinstance(error, JobTimedOut):
            message = f"Job failed: execution took longer than {self._timeout} seconds"
            return JobResult("failed", "job_execution_timeout", None, message)
        if isinstance(error, JobCanceled) and self._aborted:
            return JobResult("failed", "runner_system_failure", None, "Job failed: the runner was stopped")
        if isinstance(error, JobCanceled):
            return JobResult("failed", "job_canceled", None, "Job canceled")
        reason = "script_failure" if isinstance(error, TransferFailed) else "runner_system_failure"
        return JobResult("failed", reason, None, f"Job failed: {error}")

    def _report(self, result: JobResult) -> None:
        color = "32;1" if result.state == "success" else "31;1"
        self._trace.line(f"\x1b[{color}m{result.message}\x1b[0;m")
        fields: dict[str, object] = {}
        if result.failure_reason is not None:
            known = self._job.server_features.failure_reasons
            supported = known is None or result.failure_reason in known
            fields["failure_reason"] = result.failure_reason if supported else "unknown_failure"
        if result.exit_code is not None:
            fields["exit_code"] = result.exit_code
        seconds = _ABORT_REPORT_SECONDS if self._aborted else _REPORT_SECONDS
        self._trace.finish(result.state, fields, seconds)

    def _cancel(self, kind: Cancellation) -> None:
        """Stop the script; called by the thread that sends the log."""
        # The server repeats the status; after_script may run meanwhile.
        if kind != self._cancellation:
            self._cancellation = kind
            self._switch.stop(JobCanceled())

    @contextmanager
    def _section(self, name: str) -> Iterator[None]:
        """Mark the output of a phase, so that pages can fold it."""
        if not self._job.server_features.trace_sections:
            yield
            return
        self._trace.write(f"section_start:{int(time.time())}:{name}\r\x1b[0K".encode())
        try:
            yield
        finally:
            self._trace.write(f"section_end:{int(time.time())}:{name}\r\x1b[0K".encode())

    def _job_environment(self, builds: Path) -> ShellEnvironment:
        own = {
            "CI_PROJECT_DIR": str(self._project),
            "CI_BUILDS_DIR": str(builds),
            "CI_CONCURRENT_ID": str(self._slot),
            "CI_CONCURRENT_PROJECT_ID": "0",
            "CI_JOB_STATUS": "running",
            "CI_JOB_TIMEOUT": str(self._timeout),
            "CI_SERVER": "yes",
            "CI_SHARED_ENVIRONMENT": "true",
            "CI_RUNNER_VERSION": runner_version(),
            "RUNNER_TEMP_PROJECT_DIR": str(self._temporary),
        }
        variables = [VariableSpec(key, value, raw=True) for key, value in own.items()]
        # Servers send it too; git authenticates with it.
        token = VariableSpec("CI_JOB_TOKEN", self._job.token, masked=True, raw=True)
        return ShellEnvironment([token, *(self._job.variables or ()), *variables], self._temporary)


def _project_place(repository_url: str) -> str:
    """Return the relative directory of a project, from the path of its repository."""
    parts = [
        part for part in urlsplit(repository_url).path.removesuffix(".git").split("/") if part not in ("", ".", "..")
    ]
    return "/".join(parts) or "project"
