"""Table of the files that jobs upload."""

from typing import Literal

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, flag, index_where, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

ArtifactType = Literal[
    "archive",
    "metadata",
    "junit",
    "dotenv",
    "cobertura",
    "jacoco",
    "accessibility",
    "annotations",
    "api_fuzzing",
    "browser_performance",
    "cluster_applications",
    "cluster_image_scanning",
    "codequality",
    "container_scanning",
    "coverage_fuzzing",
    "cyclonedx",
    "dast",
    "dependency_scanning",
    "license_scanning",
    "load_performance",
    "lsif",
    "metrics",
    "metrics_referee",
    "network_referee",
    "performance",
    "repository_xray",
    "requirements",
    "requirements_v2",
    "sast",
    "secret_detection",
    "terraform",
]
"""Types of files that runners upload; of the reports, junit, dotenv and cobertura are read, the others only stored."""
ArtifactFormat = Literal["zip", "gzip", "raw"]

# The file lies in <data>/artifacts below the first four digits of its key.
job_artifacts = Table(
    "job_artifacts",
    metadata,
    row_id(),
    reference("job_id", "ci_jobs.id"),
    reference("project_id", "projects.id"),
    text("file_type"),
    text("file_format"),
    text("filename"),
    number("size"),
    text("storage_key", unique=True),
    flag("public"),
    text("created_at"),
    text("expire_at", nullable=True),
    # "maintainer" or "none"; NULL if developers may read the file, or everyone who reads the jobs.
    text("access", nullable=True),
    UniqueConstraint("job_id", "file_type"),
    Index("ix_job_artifacts_project_id", "project_id", "id"),
    Index("ix_job_artifacts_expire_at", "expire_at", **index_where("expire_at IS NOT NULL")),
    sqlite_autoincrement=True,
)


class JobArtifact(Record, frozen=True):
    """A file that a job uploaded."""

    id: int
    job_id: int
    project_id: int
    file_type: str
    file_format: ArtifactFormat
    filename: str
    size: int
    storage_key: str
    public: bool
    created_at: Timestamp
    expire_at: Timestamp | None
    access: Literal["maintainer", "none"] | None
