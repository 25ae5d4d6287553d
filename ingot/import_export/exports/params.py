"""Request parameters of exports."""

from typing import Literal

from ingot.core.api.params import Params


class UploadTarget(Params):
    """Server that an archive is uploaded to."""

    url: str
    http_method: Literal["PUT", "POST"] = "PUT"


class ExportProject(Params):
    """Description that replaces that of the project, and the server that the archive is uploaded to."""

    description: str | None = None
    upload: UploadTarget | None = None


class ExportRelations(Params):
    """Whether the relations are exported in batches; each then has one."""

    batched: bool = False


class GetRelationStatus(Params):
    """Relation whose export is shown; by default all."""

    relation: str | None = None


class DownloadRelation(Params):
    """Relation to download, and its batch if it has some."""

    relation: str
    batched: bool = False
    batch_number: int | None = None
