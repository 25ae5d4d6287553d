"""Request parameters of the CI lint."""

from ingot.core.api.params import Params


class LintConfig(Params):
    """Text of a CI file."""

    content: str


class LintProjectConfig(Params):
    """Text of a CI file that is validated in the context of a project."""

    content: str
    ref: str | None = None
    """Branch or tag for which a pipeline is simulated; by default the default branch."""
    dry_run: bool = False
    include_jobs: bool = False


class LintCommittedConfig(Params):
    """Commit whose configuration is validated, by default that of the default branch."""

    content_ref: str | None = None
    sha: str | None = None
    dry_run_ref: str | None = None
    ref: str | None = None
    dry_run: bool = False
    include_jobs: bool = False
