"""CI files: their check, and the variables that they declare."""

from collections.abc import Sequence
from typing import Any

from ingot.ci.pipelines.start import config_variables
from ingot.graphql.connections import ConnectionPage, connection_of
from ingot.graphql.context import QueryContext
from ingot.graphql.resolvers import Arguments, Resolvers
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import find_project

resolvers = Resolvers()


@resolvers.single("Query.ciConfig")
def check_ci_config(context: QueryContext, _: Any, arguments: Arguments) -> dict[str, Any]:
    """Return the result of checking the text of a CI file."""
    params = {
        "content": arguments["content"],
        "dry_run": arguments.get("dryRun"),
        "ref": arguments.get("sha"),
        "include_jobs": True,
    }
    given = {name: value for name, value in params.items() if value is not None}
    view = context.call("POST /projects/:id/ci/lint", given, id=arguments["projectPath"])
    stages: dict[str, list[Any]] = {}
    for job in view.jobs or []:
        stages.setdefault(job.stage, []).append(job)
    return {
        "status": "VALID" if view.valid else "INVALID",
        "errors": view.errors,
        "warnings": view.warnings,
        "merged_yaml": view.merged_yaml,
        "includes": view.includes,
        "stages": [{"name": name, "jobs": jobs} for name, jobs in stages.items()],
    }


@resolvers.batch("CiConfig.stages")
def config_stages(_: QueryContext, configs: Sequence[dict[str, Any]], arguments: Arguments) -> list[ConnectionPage]:
    """Return the stages that have jobs."""
    return [connection_of(config["stages"], arguments) for config in configs]


@resolvers.batch("CiConfigStage.groups")
def config_groups(_: QueryContext, stages: Sequence[dict[str, Any]], arguments: Arguments) -> list[ConnectionPage]:
    """Return the jobs of stages, each as a group of one."""
    return [
        connection_of([{"name": job.name, "size": 1, "jobs": [job]} for job in stage["jobs"]], arguments)
        for stage in stages
    ]


@resolvers.batch("CiConfigGroup.jobs")
def config_jobs(_: QueryContext, groups: Sequence[dict[str, Any]], arguments: Arguments) -> list[ConnectionPage]:
    """Return the jobs of groups."""
    return [connection_of(group["jobs"], arguments) for group in groups]


resolvers.rename("CiConfigJob", groupName="name", tags="tag_list")


@resolvers.single("Project.ciConfigVariables")
def list_config_variables(context: QueryContext, project: Any, arguments: Arguments) -> list[dict[str, Any]] | None:
    """Return the variables in the CI file of a branch or tag, to users who may run a pipeline with them."""
    if not context.allows("POST /projects/:id/pipeline", id=project.id):
        return None
    record = context.read(lambda db: find_project(db, context.actor, project.id)[1])
    store = repository_store(context.settings)
    variables = config_variables(context.database, store, record, context.actor, arguments["ref"])
    return [
        {"key": key, "value": each.value, "description": each.description, "value_options": each.options or None}
        for key, each in variables.items()
    ]
