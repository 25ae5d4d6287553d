"""Artifacts of a job: download of the archive, its folders, and download of one file."""

from urllib.parse import quote

from ingot.ci.artifacts import api as artifacts_api
from ingot.ci.artifacts.archives import FolderItem, is_safe_path
from ingot.ci.artifacts.downloads import list_archive_folder
from ingot.ci.artifacts.store import artifact_store_of
from ingot.ci.jobs import api as jobs_api
from ingot.core.api.routes import ContentResponse
from ingot.core.errors import Invalid, NotFound
from ingot.core.offload import require_blocking_allowed
from ingot.web.ci.sections import ci_page
from ingot.web.file_response import stream_as_file
from ingot.web.page_routes import BytesResponse, FileResponse, PageResponse, PageRoutes, Visit
from ingot.web.projects.context import project_context

pages = PageRoutes()
_MAX_ITEMS = 5000


@pages.get("/:path/-/jobs/:id/artifacts/download", open=True)
def download_archive(visit: Visit) -> PageResponse:
    """Return the archive of a job."""
    parent = project_context(visit)
    return _stream_response(parent.ask(artifacts_api.get_job_artifacts, job_id=visit.request.path["id"]))


@pages.get("/:path/-/jobs/:id/artifacts/browse", open=True)
def show_archive(visit: Visit) -> PageResponse:
    """List the top folder of the archive of a job."""
    return _folder_page(visit, "")


@pages.get("/:path/-/jobs/:id/artifacts/browse/:rest", open=True, slashes="rest")
def show_archive_folder(visit: Visit) -> PageResponse:
    """List a folder of the archive of a job."""
    return _folder_page(visit, visit.request.path["rest"].strip("/"))


@pages.get("/:path/-/jobs/:id/artifacts/raw/:rest", open=True, slashes="rest")
def download_archive_file(visit: Visit) -> PageResponse:
    """Return one file of the archive of a job."""
    parent, path = project_context(visit), visit.request.path
    try:
        content = parent.ask(artifacts_api.get_job_artifact_file, job_id=path["id"], artifact_path=path["rest"])
    except Invalid as error:
        raise NotFound("File") from error
    return _stream_response(content)


def _folder_page(visit: Visit, folder: str) -> PageResponse:
    parent = project_context(visit)
    if folder and not is_safe_path(folder):
        raise NotFound("Folder")
    job = parent.ask(jobs_api.get_job, job_id=visit.request.path["id"])
    artifact = parent.find(artifacts_api.get_job_artifacts, job_id=job.id).artifact
    require_blocking_allowed()
    error = ""
    try:
        items = list_archive_folder(artifact_store_of(visit.settings), artifact, folder)
    except Invalid:
        items, error = [], "The archive cannot be read. Download it to see its contents."
    names = folder.split("/") if folder else []
    url = f"{parent.url}/-/jobs/{job.id}/artifacts"
    rows = [(item, _item_url(url, folder, item), _printable(item.name)) for item in items[:_MAX_ITEMS]]
    context = {
        "job": job,
        "rows": rows,
        "more": len(items) - len(rows),
        "names": [
            (_printable(name), f"{url}/browse/{quote('/'.join(names[: number + 1]), errors='surrogateescape')}")
            for number, name in enumerate(names)
        ],
        "artifacts_url": url,
        "error": error,
    }
    return ci_page(parent, "ci/artifacts.html", "jobs", context)


def _item_url(url: str, folder: str, item: FolderItem) -> str:
    path = f"{folder}/{item.name}" if folder else item.name
    return f"{url}/{'browse' if item.is_folder else 'raw'}/{quote(path, errors='surrogateescape')}"


def _printable(name: str) -> str:
    """Return a name whose bytes need not be UTF-8 as text."""
    return name.encode(errors="surrogateescape").decode(errors="replace")


def _stream_response(content: ContentResponse) -> PageResponse:
    headers = [header for header in content.headers if header[0] == b"content-disposition"]
    headers.append((b"cache-control", b"private, no-cache"))
    if content.body is not None:
        return BytesResponse(content.body, content.content_type, headers)
    return FileResponse(
        stream_as_file(content.pieces(0, content.size or 0)), content.size, content.content_type, headers
    )
