"""Variables of jobs: predefined ones, those of the configuration, and those that projects, groups and callers set."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from sqlalchemy import bindparam, func, select

from ingot.accounts.instance.settings import custom_clone_root
from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.tables import User
from ingot.ci.config.variables import ExpandedVariables, expand_text
from ingot.ci.freeze_periods.status import freeze_variables
from ingot.ci.job_records.dependencies import inherited_variables
from ingot.ci.job_records.queries import manual_variables, options_of, variables_of
from ingot.ci.job_records.tables import TOKEN_USERNAME, CiJob
from ingot.ci.pipelines import predefined_variables as predefined
from ingot.ci.pipelines.deployments import environment_of
from ingot.ci.pipelines.id_tokens import id_tokens
from ingot.ci.pipelines.insertion import GivenVariable
from ingot.ci.pipelines.ports import CiEnvironment, SiteVariables
from ingot.ci.pipelines.processing import effective_timeout
from ingot.ci.pipelines.queries import variables_of_pipeline
from ingot.ci.pipelines.tables import pipeline_contexts
from ingot.ci.runners.tables import Runner
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.pipelines.tables import Pipeline
from ingot.projects.namespaces.tables import namespace_tree, namespaces
from ingot.projects.projects.tables import Project
from ingot.projects.variables.queries import INSTANCE
from ingot.projects.variables.tables import Variable, variables
from ingot.repositories.protection.policy import name_matches

_CONTEXT = select(pipeline_contexts.c.variables).where(pipeline_contexts.c.pipeline_id == bindparam("pipeline"))
_GROUPS = (
    select(namespaces.c.id)
    .join(namespace_tree, namespace_tree.c.ancestor_id == namespaces.c.id)
    .where(namespace_tree.c.descendant_id == bindparam("namespace"), namespaces.c.kind == "group")
    .order_by(func.length(namespaces.c.full_path))
)
_OF_OWNERS = select(variables).where(in_list(variables.c.place, "places")).order_by(variables.c.id)


class RunnerVariable(msgspec.Struct, frozen=True):
    """A variable as a runner gets it."""

    key: str
    value: str
    public: bool = True
    masked: bool = False
    file: bool = False
    raw: bool = False


def secret_variables(
    db: Connection, project: Project, *, protected: bool, environment: str | None
) -> list[RunnerVariable]:
    """Return the variables of instance, groups and project that a job may have; later ones have precedence.

    ``protected`` is true for jobs of protected refs. Without an environment, variables that are limited to some
    environments do not apply.
    """
    places = [INSTANCE.name, *(f"group {group_id}" for (group_id,) in db.rows(_GROUPS, namespace=project.namespace_id))]
    places.append(f"project {project.id}")
    rows = db.all(Variable, _OF_OWNERS, places=places)
    chosen = [row for row in rows if (protected or not row.protected) and _applies(row.environment_scope, environment)]
    chosen.sort(key=lambda row: (places.index(row.place), _specificity(row.environment_scope)))
    return [
        RunnerVariable(
            row.key,
            db.vault.unseal(row.sealed_value),
            public=False,
            masked=row.masked,
            file=row.variable_type == "file",
            raw=row.raw,
        )
        for row in chosen
    ]


def _applies(scope: str, environment: str | None) -> bool:
    return scope == "*" or (environment is not None and name_matches(scope, environment))


def _specificity(scope: str) -> tuple[bool, int]:
    return "*" not in scope, len(scope)


def given_variables(db: Connection, pipeline_id: int) -> list[RunnerVariable]:
    """Return the variables that were given when a pipeline was created."""
    return [
        RunnerVariable(
            row.key,
            db.vault.unseal(row.sealed_value),
            public=False,
            file=row.variable_type == "file",
            raw=row.raw,
        )
        for row in variables_of_pipeline(db, pipeline_id)
    ]


def user_variables(user: User | None) -> list[tuple[str, str]]:
    """Return the variables of the user who started a pipeline or job."""
    if user is None:
        return []
    return [
        ("GITLAB_USER_ID", str(user.id)),
        ("GITLAB_USER_EMAIL", user.email),
        ("GITLAB_USER_LOGIN", user.username),
        ("GITLAB_USER_NAME", user.name),
    ]


def context_variables(db: Connection, pipeline_id: int) -> dict[str, str]:
    """Return the variables of the commit and merge request of a pipeline."""
    document: str | None = db.value(_CONTEXT, pipeline=pipeline_id)
    return msgspec.json.decode(document, type=dict[str, str]) if document else {}


def _public(pairs: Iterable[tuple[str, str]], *, raw: bool = False) -> list[RunnerVariable]:
    return [RunnerVariable(key, value, raw=raw) for key, value in pairs]


def clone_url(db: Connection, project: Project, base_url: str, token: str) -> str:
    """Return the address from which a job clones the project, with its token."""
    scheme, _, address = (custom_clone_root(db) or base_url).rstrip("/").partition("://")
    return f"{scheme}://{TOKEN_USERNAME}:{token}@{address}/{project.full_path}.git"


def job_variables(
    db: Connection,
    project: Project,
    pipeline: Pipeline,
    job: CiJob,
    runner: Runner,
    base_url: str,
    token: str,
    dotenv: Sequence[tuple[str, str]] = (),
) -> list[RunnerVariable]:
    """Return the variables of a job in the order of precedence; of two with the same key, the later one applies.

    ``dotenv`` are variables that jobs before this one reported; they do not replace predefined variables.
    """
    project_url = f"{base_url}/{project.full_path}"
    user_id = job.user_id or pipeline.user_id
    user = user_or_none(db, user_id) if user_id is not None else None
    timeout = effective_timeout(db, job, runner)
    predefined_ones = [
        *_public(predefined.job_variables_of_row(job, project_url, timeout)),
        *(RunnerVariable(key, token, public=False, masked=True) for key in ("CI_JOB_TOKEN", "CI_BUILD_TOKEN")),
        RunnerVariable("CI_REPOSITORY_URL", clone_url(db, project, base_url, token), public=False, masked=True),
        *_registry_credentials(project, token),
        *_public(predefined.instance_variables(db.ports[CiEnvironment])),
        *_public(predefined.project_variables(project, base_url), raw=True),
        *_public(freeze_variables(db, project.id)),
        *_public(context_variables(db, pipeline.id).items(), raw=True),
        *_public(predefined.pipeline_variables(pipeline, project_url), raw=True),
        *_public(predefined.runner_variables(runner), raw=True),
    ]
    of_user = user_variables(user)
    reported = _without(dotenv, {*(each.key for each in predefined_ones), *(key for key, _ in of_user)})
    variables = [
        *predefined_ones,
        *(RunnerVariable(each.key, each.value, raw=each.raw) for each in variables_of(job)),
        *_public(of_user, raw=True),
        *(RunnerVariable(key, value, public=False) for key, value in reported),
        *secret_variables(db, project, protected=pipeline.protected, environment=job.environment),
        *given_variables(db, pipeline.id),
        *(RunnerVariable(key, value, public=False) for key, value in manual_variables(db, job.id)),
        *_environment_variables(db, job),
    ]
    variables = _with_nested_values([*_site_variables(db, project, job, variables), *variables])
    scope = {each.key: each.value for each in variables if not each.file}
    tokens = id_tokens(db, project, pipeline, job, runner, user, timeout, scope)
    return [*(RunnerVariable(key, value, public=False, masked=True, raw=True) for key, value in tokens), *variables]


def _site_variables(
    db: Connection, project: Project, job: CiJob, variables: Iterable[RunnerVariable]
) -> list[RunnerVariable]:
    """Return the variables with the address of the site, of which the job may publish a part below a path prefix."""
    site = options_of(job).site
    scope = ExpandedVariables({each.key: each.value for each in variables if not each.file})
    prefix = "" if site is None else expand_text(site.path_prefix, scope)
    return _public(db.ports[SiteVariables].list_variables(db, project, prefix), raw=True)


def _registry_credentials(project: Project, token: str) -> list[RunnerVariable]:
    if not project.container_registry_enabled:
        return []
    return [
        RunnerVariable("CI_REGISTRY_USER", TOKEN_USERNAME),
        RunnerVariable("CI_REGISTRY_PASSWORD", token, public=False, masked=True),
    ]


def downstream_variables(
    db: Connection, project: Project, pipeline: Pipeline, job: CiJob, *, same_project: bool
) -> tuple[Mapping[str, str], list[GivenVariable]]:
    """Return the variables in the fields of a job that names other pipelines, and those that it gives to a pipeline.

    Protected variables are not inserted into values for another project.
    """
    trigger = options_of(job).trigger
    base_url = db.ports[CiEnvironment].base_url
    user_id = job.user_id or pipeline.user_id
    secrets = secret_variables(db, project, protected=pipeline.protected and same_project, environment=job.environment)
    given = given_variables(db, pipeline.id)
    own = variables_of(job)
    of_user = dict(user_variables(user_or_none(db, user_id) if user_id is not None else None))
    predefined_ones = {
        **dict(predefined.job_name_variables(job.name, job.stage, None, manual=job.run_when == "manual")),
        **dict(predefined.instance_variables(db.ports[CiEnvironment])),
        **dict(predefined.project_variables(project, base_url)),
        **dict(freeze_variables(db, project.id)),
        **context_variables(db, pipeline.id),
        **dict(predefined.pipeline_variables(pipeline, f"{base_url}/{project.full_path}")),
    }
    dotenv = _without(inherited_variables(db, job), {*predefined_ones, *of_user}) if trigger is not None else []
    scope = ExpandedVariables(
        {
            **predefined_ones,
            **{each.key: each.value for each in own},
            **of_user,
            **dict(dotenv),
            # The name of a file means nothing to another pipeline.
            **{each.key: each.value for each in (*secrets, *given) if not each.file},
        },
        raw={each.key for each in own if each.raw} | {each.key for each in (*secrets, *given) if each.raw},
    )
    if trigger is None:
        return scope, []
    passed: list[GivenVariable] = []
    if trigger.yaml_variables:
        passed += [GivenVariable(each.key, _inserted(each.value, each.raw, scope), raw=each.raw) for each in own]
    if trigger.pipeline_variables:
        passed += [GivenVariable(key, value) for key, value in dotenv]
        passed += [
            GivenVariable(
                each.key, _inserted(each.value, each.raw, scope), "file" if each.file else "env_var", each.raw
            )
            for each in given
        ]
    return scope, list({each.key: each for each in passed}.values())


def _without(pairs: Iterable[tuple[str, str]], keys: set[str]) -> list[tuple[str, str]]:
    return [(key, value) for key, value in pairs if key not in keys]


def _inserted(value: str, raw: bool, variables: Mapping[str, str]) -> str:
    return value if raw else expand_text(value, variables, keep_unknown=True)


def _with_nested_values(given: list[RunnerVariable]) -> list[RunnerVariable]:
    """Insert values of variables into those of others, since runners expand references only once.

    References to raw variables and to files are left to the runner.
    """
    values: dict[str, str] = {}
    for variable in given:
        values.pop(variable.key, None)
        if not variable.raw and not variable.file:
            values[variable.key] = variable.value
    expanded = ExpandedVariables(values)
    return [
        msgspec.structs.replace(variable, value=expanded[variable.key])
        if "$" in variable.value and values.get(variable.key) == variable.value
        else variable
        for variable in given
    ]


def _environment_variables(db: Connection, job: CiJob) -> list[RunnerVariable]:
    environment = environment_of(db, job)
    if environment is None:
        return []
    configured = options_of(job).environment or {}
    pairs = [
        ("CI_ENVIRONMENT_NAME", environment.name),
        ("CI_ENVIRONMENT_SLUG", environment.slug),
        ("CI_ENVIRONMENT_ACTION", configured.get("action", "start")),
        ("CI_ENVIRONMENT_TIER", environment.tier),
    ]
    url = configured.get("url") or environment.external_url
    return [*_public(pairs), *([RunnerVariable("CI_ENVIRONMENT_URL", url)] if url else [])]
