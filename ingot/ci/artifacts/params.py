"""Request parameters of job artifacts."""

from ingot.ci.artifacts.tables import ArtifactFormat, ArtifactType
from ingot.core.api.params import Params


class UploadArtifact(Params):
    """Description of an uploaded file; the file is in the body."""

    token: str | None = None
    expire_in: str | None = None
    artifact_type: ArtifactType = "archive"
    artifact_format: ArtifactFormat | None = None


class DownloadArtifact(Params):
    """Token of the running job that downloads an archive."""

    token: str | None = None
    direct_download: bool = False
    """Whether the runner follows a redirect to the object store."""


class ListArchive(Params):
    """Folder of an archive; the default is the root."""

    path: str | None = None
    recursive: bool | None = None


class ArtifactOfRef(Params):
    """Name of the job whose archive is read."""

    job: str
