"""Tables of pipeline schedules and their variables."""

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.ci.pipelines.tables import VariableType
from ingot.core.db.schema import Record, binary, flag, index_where, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

pipeline_schedules = Table(
    "pipeline_schedules",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    reference("owner_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    text("description"),
    text("ref"),
    text("cron"),
    text("cron_timezone"),
    flag("active"),
    # NULL while the schedule is not active.
    text("next_run_at", nullable=True),
    reference("last_pipeline_id", "pipelines.id", ondelete="SET NULL", nullable=True, index=True),
    text("created_at"),
    text("updated_at"),
    # Encrypted JSON object of the inputs by name; NULL if there are none.
    binary("sealed_inputs", nullable=True),
    Index("ix_pipeline_schedules_project_id", "project_id", "id"),
    Index("ix_pipeline_schedules_next_run_at", "next_run_at", **index_where("next_run_at IS NOT NULL")),
    sqlite_autoincrement=True,
)

schedule_variables = Table(
    "schedule_variables",
    metadata,
    row_id(),
    reference("schedule_id", "pipeline_schedules.id"),
    text("key"),
    binary("sealed_value"),
    text("variable_type"),
    flag("raw"),
    UniqueConstraint("schedule_id", "key"),
    sqlite_autoincrement=True,
)


class PipelineSchedule(Record, frozen=True):
    """A rule that creates pipelines of a branch or tag at certain times."""

    id: int
    project_id: int
    owner_id: int | None
    description: str
    ref: str
    cron: str
    cron_timezone: str
    active: bool
    next_run_at: Timestamp | None
    last_pipeline_id: int | None
    created_at: Timestamp
    updated_at: Timestamp
    sealed_inputs: bytes | None


class ScheduleVariable(Record, frozen=True):
    """A variable of the pipelines that a schedule creates."""

    id: int
    schedule_id: int
    key: str
    sealed_value: bytes
    variable_type: VariableType
    raw: bool
