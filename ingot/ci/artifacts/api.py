"""Endpoints of job artifacts and test reports."""

from contextlib import suppress
from typing import Any

from ingot.ci.artifacts import policy, service
from ingot.ci.artifacts.coverage_reports import read_coverage
from ingot.ci.artifacts.downloads import entry_response, file_response, list_archive_tree
from ingot.ci.artifacts.finders import (
    ArtifactSubject,
    artifact_in_path,
    find_artifact_of_ref,
    may_read_archive,
)
from ingot.ci.artifacts.jobs import enqueue_artifact_expiry
from ingot.ci.artifacts.needed_jobs import may_get_archive
from ingot.ci.artifacts.params import ArtifactOfRef, DownloadArtifact, ListArchive, UploadArtifact
from ingot.ci.artifacts.queries import artifact_or_none, reports_of_pipeline
from ingot.ci.artifacts.service import StoredFile
from ingot.ci.artifacts.store import artifact_store_of
from ingot.ci.artifacts.test_reports import JunitSuite, read_test_suites
from ingot.ci.artifacts.upload import find_running_job, receive_artifact
from ingot.ci.artifacts.views import (
    ArchiveEntryView,
    ArtifactView,
    CoverageReportView,
    TestReportSummaryView,
    TestReportView,
    archive_entry_view,
    artifact_view,
    coverage_report_view,
    test_report_summary_view,
    test_report_view,
)
from ingot.ci.job_records.policy import may_read_jobs
from ingot.ci.job_records.queries import find_job, job_by_id, job_by_token, require_active_user
from ingot.collaboration.merge_requests.detail_views import pipeline_projects
from ingot.collaboration.merge_requests.finders import merge_request_in_path
from ingot.collaboration.merge_requests.pipelines import head_pipeline
from ingot.collaboration.merge_requests.policy import MergeRequestLookup, may_read_merge_request
from ingot.collaboration.merge_requests.queries import latest_version
from ingot.core.access.rules import anyone, require
from ingot.core.api.params import number_or_none, path_number
from ingot.core.api.routes import Call, ContentResponse, Routes
from ingot.core.db.paging import Listing, Page, slice_page
from ingot.core.errors import Denied, NotFound
from ingot.git.diffs.changed_files import changed_paths_between
from ingot.git.history.commits import NO_OID
from ingot.pipelines.queries import find_pipeline
from ingot.projects.projects.api import project_in_path, repository_store
from ingot.projects.projects.code_access import project_repository
from ingot.projects.projects.policy import may_download_code
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project

routes = Routes("jobs")
REDIRECTS: dict[int, Any] = {302: None}
"""Response of a download from a bucket that the client reaches itself."""


@routes.post(
    "/jobs/:id/artifacts",
    may=anyone,
    returns=ArtifactView,
    runner_call=True,
    rate_limited=False,
    read_body=receive_artifact,
)
def upload_artifact(call: Call, params: UploadArtifact, received: tuple[StoredFile, str | None]) -> ArtifactView:  # noqa: ARG001 - Read with the body.
    """Upload a file of a running job; for runners."""
    stored, token = received
    job = find_running_job(call.db, number_or_none(call.path["id"]), token)
    return artifact_view(service.add_artifact(call.db, job, stored))


@routes.get(
    "/jobs/:id/artifacts",
    may=anyone,
    returns=ContentResponse,
    instead=REDIRECTS,
    runner_call=True,
    rate_limited=False,
    heavy=True,
)
def download_artifacts(call: Call, params: DownloadArtifact) -> ContentResponse:
    """Download the archive of a job with the token of a running job whose user may read it; for runners."""
    job = job_by_id(call.db, number_or_none(call.path["id"]) or 0)
    if job is None:
        raise NotFound(message="404 Not found")
    running = job_by_token(call.db, params.token) if params.token else None
    if running is None:
        raise Denied
    require_active_user(call.db, running)
    artifact = artifact_or_none(call.db, job.id)
    if running.project_id != job.project_id and not may_get_archive(call.db, running, artifact):
        raise Denied
    if job.erased_at is not None:
        raise Denied("Job has been erased!")
    if artifact is None:
        raise NotFound(message="404 Not found")
    return file_response(artifact_store_of(call.settings), artifact, redirects=params.direct_download)


@routes.get(
    "/projects/:id/jobs/:job_id/artifacts",
    on=artifact_in_path,
    may=may_read_archive,
    returns=ContentResponse,
    instead=REDIRECTS,
    heavy=True,
    job_token=True,
)
def get_job_artifacts(call: Call, subject: ArtifactSubject) -> ContentResponse:
    """Download the archive of a job."""
    return file_response(artifact_store_of(call.settings), subject.artifact)


@routes.get(
    "/projects/:id/jobs/:job_id/artifacts/:artifact_path",
    on=artifact_in_path,
    may=may_read_archive,
    returns=ContentResponse,
    heavy=True,
    job_token=True,
    slashes="artifact_path",
)
def get_job_artifact_file(call: Call, subject: ArtifactSubject) -> ContentResponse:
    """Download one file of the archive of a job."""
    return entry_response(artifact_store_of(call.settings), subject.artifact, call.path["artifact_path"])


@routes.get(
    "/projects/:id/jobs/:job_id/artifacts/tree",
    on=artifact_in_path,
    may=may_read_archive,
    returns=list[ArchiveEntryView] | ContentResponse,
    heavy=True,
    job_token=True,
)
def list_job_artifacts(
    call: Call, subject: ArtifactSubject, params: ListArchive, page: Page
) -> Listing[ArchiveEntryView] | ContentResponse:
    """List a folder of the archive of a job; without parameters, a file named ``tree`` is downloaded instead."""
    store = artifact_store_of(call.settings)
    if params.path is None and params.recursive is None and not page.explicit:
        with suppress(NotFound):
            return entry_response(store, subject.artifact, "tree")
    items = list_archive_tree(store, subject.artifact, params.path or "", recursive=bool(params.recursive))
    listing = slice_page(items, page)
    return listing.of([archive_entry_view(item) for item in listing.items])


@routes.get(
    "/projects/:id/jobs/artifacts/:ref_name/download",
    on=project_in_path,
    may=may_read_jobs,
    returns=ContentResponse,
    instead=REDIRECTS,
    heavy=True,
    job_token=True,
    slashes="ref_name",
)
def get_artifacts_of_ref(call: Call, project: Project, params: ArtifactOfRef) -> ContentResponse:
    """Download the archive of the newest successful job with a name on a branch or tag."""
    artifact = find_artifact_of_ref(call, project, call.path["ref_name"], params.job)
    return file_response(artifact_store_of(call.settings), artifact)


@routes.get(
    "/projects/:id/jobs/artifacts/:ref_name/raw/:artifact_path",
    on=project_in_path,
    may=may_read_jobs,
    returns=ContentResponse,
    heavy=True,
    job_token=True,
    slashes="artifact_path",
)
def get_artifact_file_of_ref(call: Call, project: Project, params: ArtifactOfRef) -> ContentResponse:
    """Download one file of the archive of the newest successful job with a name on a branch or tag."""
    artifact = find_artifact_of_ref(call, project, call.path["ref_name"], params.job)
    return entry_response(artifact_store_of(call.settings), artifact, call.path["artifact_path"])


@routes.delete(
    "/projects/:id/jobs/:job_id/artifacts",
    on=project_in_path,
    may=policy.may_delete_artifacts,
    returns=None,
    status=204,
)
def delete_job_artifacts(call: Call, project: Project) -> None:
    """Delete the files of a job."""
    job = find_job(call.db, project.id, path_number(call.path, "job_id"))
    service.erase_artifacts(call.db, job)


@routes.delete("/projects/:id/artifacts", on=project_in_path, may=policy.may_delete_artifacts, returns=None, status=202)
def delete_project_artifacts(call: Call, project: Project) -> None:
    """Delete the files of all jobs of a project, except those of the latest pipeline of a ref."""
    service.expire_project_artifacts(call.db, project.id)
    enqueue_artifact_expiry(call.db)


@routes.get(
    "/projects/:id/pipelines/:pipeline_id/test_report",
    on=project_in_path,
    may=may_read_jobs,
    returns=TestReportView,
    heavy=True,
)
def get_test_report(call: Call, project: Project) -> TestReportView:
    """Get the test cases of a pipeline."""
    return test_report_view(_test_suites(call, project))


@routes.get(
    "/projects/:id/pipelines/:pipeline_id/test_report_summary",
    on=project_in_path,
    may=may_read_jobs,
    returns=TestReportSummaryView,
    heavy=True,
)
def get_test_report_summary(call: Call, project: Project) -> TestReportSummaryView:
    """Get the numbers of test cases of a pipeline."""
    return test_report_summary_view(_test_suites(call, project))


def _test_suites(call: Call, project: Project) -> list[JunitSuite]:
    pipeline = find_pipeline(call.db, project.id, path_number(call.path, "pipeline_id"))
    return read_test_suites(artifact_store_of(call.settings), reports_of_pipeline(call.db, pipeline.id, "junit"))


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/coverage_reports",
    on=merge_request_in_path,
    may=may_read_merge_request,
    returns=CoverageReportView,
    heavy=True,
)
def get_coverage_reports(call: Call, lookup: MergeRequestLookup) -> CoverageReportView:
    """Get how often the lines of changed files were executed in the tests of a merge request's pipeline."""
    merge_request = lookup.merge_request
    pipeline = head_pipeline(call.db, merge_request)
    if pipeline is None or not pipeline_projects(call.db, call.actor, [pipeline.project_id]):
        return CoverageReportView({}, 0, 0, None)
    access, source = find_project(call.db, call.actor, pipeline.project_id)
    require(may_read_jobs(call.actor, access, source) and may_download_code(call.actor, access, source))
    version = latest_version(call.db, merge_request.id)
    base = (version.base_oid if version is not None else None) or NO_OID
    repository = project_repository(repository_store(call.settings), source)
    reports = [artifact for _, artifact in reports_of_pipeline(call.db, pipeline.id, "cobertura")]
    paths = set(changed_paths_between(repository, base, merge_request.head_oid)) if reports else ()
    return coverage_report_view(*read_coverage(artifact_store_of(call.settings), reports, source.full_path, paths))
