"""Context and sources of a file that belongs to no project: it can include templates only."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from ingot.ci.config.errors import ConfigError
from ingot.ci.config.includes import FileSource
from ingot.ci.pipelines.config_files import template_text


class StandaloneContext(msgspec.Struct, frozen=True):
    """A push to a branch of a project without files and variables."""

    ref: str = "main"
    is_tag: bool = False
    source: str = "push"
    project_path: str = ""
    variables: Mapping[str, str] = {}

    def changed_paths(self, compare_to: str | None) -> Collection[str] | None:  # noqa: ARG002 - There are no commits.
        """Return None, for which everything counts as changed."""
        return None

    def file_paths(self, project: str | None = None, ref: str | None = None) -> Collection[str]:  # noqa: ARG002 - There are none.
        """Return no paths."""
        return ()


class StandaloneSource:
    """Source that refuses files of projects and of other servers."""

    def local(self, pattern: str) -> Sequence[tuple[str, str]]:
        """Refuse a file of the project."""
        raise ConfigError(f"Local file `{pattern}` does not exist!")

    def project(self, path: str, ref: str | None, file: str) -> tuple[str, FileSource]:  # noqa: ARG002 - See FileSource.
        """Refuse a file of another project."""
        raise ConfigError(f"Project `{path}` not found or access denied!")

    def component(self, address: str) -> tuple[str, FileSource]:
        """Refuse a component, which is a file of another project."""
        raise ConfigError(f"Component `{address}` not found or access denied!")

    def remote(self, url: str) -> str:
        """Refuse a file of another server: anyone may call the lint."""
        raise ConfigError(f"Remote file `{url}` could not be fetched!")

    def artifact(self, job: str, path: str) -> str:  # noqa: ARG002 - See FileSource.
        """Refuse a file of a job: there is no parent pipeline."""
        raise ConfigError(f"Artifact file `{path}` can be included only by `trigger:include`!")

    def template(self, name: str) -> str:
        """Return a template of this instance."""
        return template_text(name)
