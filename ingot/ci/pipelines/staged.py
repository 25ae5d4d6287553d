"""Creation of pipelines for the API and the pages."""

from collections.abc import Collection, Iterable

from ingot.ci.pipelines.creation import PipelineRequest, create_pipeline
from ingot.ci.pipelines.insertion import GivenVariable
from ingot.ci.pipelines.params import PipelineVariableParams
from ingot.core.db.database import Database
from ingot.errors import Invalid
from ingot.git.core.repository import Repository
from ingot.git.history.commits import branch_tip, tag_tip
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.code_access import project_repository
from ingot.projects.projects.tables import Project
from ingot.projects.variables.service import key_errors
from ingot.repositories.pipelines.tables import Pipeline

MAX_VARIABLES = 200
NO_REFERENCE = "Reference not found"


def resolve_ref(repository: Repository, ref: str) -> tuple[str, bool, str] | None:
    """Return the short name of a branch or tag, whether it is a tag, and its commit; None if there is none."""
    name = ref.removeprefix("refs/heads/")
    tip = None if ref.startswith("refs/tags/") else branch_tip(repository, name)
    if tip is not None:
        return name, False, tip
    name = ref.removeprefix("refs/tags/")
    tip = None if ref.startswith("refs/heads/") else tag_tip(repository, name)
    return None if tip is None else (name, True, tip)


def check_variables(keys: Collection[str]) -> None:
    """Raise Invalid if the variables of a request are too many or a key is not valid."""
    if len(keys) > MAX_VARIABLES:
        raise Invalid(base=[f"A pipeline can have {MAX_VARIABLES} variables at most"])
    for key in keys:
        errors = key_errors(key)
        if errors:
            raise Invalid(**errors)


def given_variables(sent: Iterable[PipelineVariableParams]) -> tuple[GivenVariable, ...]:
    """Return the variables of a request; raise Invalid if they are not valid or two have the same key."""
    given = tuple(GivenVariable(each.key, each.value, each.variable_type) for each in sent)
    check_variables([each.key for each in given])
    if len({each.key for each in given}) < len(given):
        raise Invalid(base=["Duplicate variable name"])
    return given


def run_pipeline(
    database: Database,
    store: RepositoryStore,
    project: Project,
    user_id: int,
    ref: str,
    variables: tuple[GivenVariable, ...],
    source: str,
) -> Pipeline:
    """Create a pipeline for the tip of a branch or tag; raise Invalid if there is nothing to run."""
    resolved = resolve_ref(project_repository(store, project), ref)
    if resolved is None:
        raise Invalid(base=[NO_REFERENCE])
    name, is_tag, sha = resolved
    request = PipelineRequest(
        project=project, ref=name, is_tag=is_tag, sha=sha, source=source, user_id=user_id, variables=variables
    )
    pipeline = create_pipeline(database, store, request, save_on_errors=False)
    if pipeline is None:
        raise Invalid(base=["No pipeline created"])
    return pipeline
