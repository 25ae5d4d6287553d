"""The pipeline for which rules are evaluated: its ref, variables and changed files, read from git when needed."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ingot.ci.config.errors import ConfigError
from ingot.ci.config.evaluation import RuleContext
from ingot.git.core.errors import GitError
from ingot.git.core.repository import Repository
from ingot.git.diffs.changed_files import changed_paths_between
from ingot.git.history.commits import NO_OID, commit_id_or_none
from ingot.git.history.merge_bases import merge_base_or_none
from ingot.git.trees.file_names import list_file_names


def mask_values(text: str, values: Sequence[str]) -> str:
    """Replace the values of masked variables in a message."""
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, "[MASKED]")
    return text


class CommitContext:
    """Rule context of a new pipeline."""

    def __init__(
        self,
        repository: Repository,
        sha: str,
        base: str,
        *,
        ref: str,
        is_tag: bool,
        source: str,
        project_path: str,
        variables: Mapping[str, str],
        masked_values: Sequence[str] = (),
        files_elsewhere: Callable[[str, str | None], Collection[str]] | None = None,
    ) -> None:
        self._repository = repository
        self.sha = sha
        self._base = base
        """Commit before the changes; zeros if everything counts as changed."""
        self.ref = ref
        self.is_tag = is_tag
        self.source = source
        self.project_path = project_path
        self.variables = variables
        self.masked_values = masked_values
        self._files_elsewhere = files_elsewhere
        """Takes a project and a ref; returns the paths of its files."""

    def as_push(self) -> "CommitContext":
        """Return the context of a push with the same commit and variables, in which everything counts as changed."""
        return CommitContext(
            self._repository,
            self.sha,
            NO_OID,
            ref=self.ref,
            is_tag=self.is_tag,
            source="push",
            project_path=self.project_path,
            variables={**self.variables, "CI_PIPELINE_SOURCE": "push"},
            masked_values=self.masked_values,
            files_elsewhere=self._files_elsewhere,
        )

    def changed_paths(self, compare_to: str | None) -> Collection[str] | None:
        """Return the changed paths; None for new branches, tags and pipelines that follow from no change."""
        base = self._base
        if compare_to is not None:
            other = commit_id_or_none(self._repository, compare_to)
            if other is None:
                raise ConfigError("rules:changes:compare_to is not a valid ref")
            base = merge_base_or_none(self._repository, [other, self.sha]) or NO_OID
        if base == NO_OID:
            return None
        try:
            return changed_paths_between(self._repository, base, self.sha)
        except GitError:  # The former commit of a forced push may be gone.
            return None

    def file_paths(self, project: str | None = None, ref: str | None = None) -> Collection[str]:
        """Return the paths of all files of the commit, or of another project; raise ConfigError if it is hidden."""
        if project is not None:
            if self._files_elsewhere is None:
                raise ConfigError(f"rules:exists:project `{project}` not found or access denied")
            return self._files_elsewhere(project, ref)
        return list_file_names(self._repository, self.sha).paths


class _ObservedVariables(Mapping[str, str]):
    """Mapping that reports its first use."""

    def __init__(self, variables: Mapping[str, str], report: Callable[[], None]) -> None:
        self._variables = variables
        self._report = report

    def __getitem__(self, name: str) -> str:
        self._report()
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        self._report()
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


class ObservedContext:
    """Rule context that notes whether a configuration depends on anything that it was asked for."""

    def __init__(self, context: RuleContext) -> None:
        self._context = context
        self.used = False
        self.ref = context.ref
        self.is_tag = context.is_tag
        self.source = context.source
        self.project_path = context.project_path
        self.variables: Mapping[str, str] = _ObservedVariables(context.variables, self._note)

    def _note(self) -> None:
        self.used = True

    def changed_paths(self, compare_to: str | None) -> Collection[str] | None:
        """Return the changed paths of the observed context."""
        self.used = True
        return self._context.changed_paths(compare_to)

    def file_paths(self, project: str | None = None, ref: str | None = None) -> Collection[str]:
        """Return the file paths of the observed context."""
        self.used = True
        return self._context.file_paths(project, ref)
