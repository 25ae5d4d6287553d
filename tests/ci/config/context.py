"""Pipelines and files for tests of CI configuration."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from ingot.ci.config.compiler import plan_pipeline, read_config
from ingot.ci.config.errors import ConfigError
from ingot.ci.config.globs import path_matcher
from ingot.ci.config.plan import JobSpec, PipelineConfig, PipelinePlan, PlannedJob


@dataclass(frozen=True)
class PipelineFacts:
    """The pipeline that a test evaluates rules for; a push to main unless it says otherwise."""

    ref: str = "main"
    is_tag: bool = False
    source: str = "push"
    project_path: str = "group/project"
    variables: Mapping[str, str] = field(default_factory=dict)
    changes: Collection[str] | None = None
    paths: Collection[str] = ()
    compared: list[str | None] = field(default_factory=list)

    def changed_paths(self, compare_to: str | None) -> Collection[str] | None:
        self.compared.append(compare_to)
        return self.changes

    def file_paths(self, project: str | None = None, ref: str | None = None) -> Collection[str]:
        return self.paths if project is None else (f"{project}@{ref}",)


@dataclass(frozen=True)
class RepositoryFiles:
    """Files that a test's configuration may include, by path, URL or template name."""

    texts: Mapping[str, str] = field(default_factory=dict)
    projects: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def local(self, pattern: str) -> Sequence[tuple[str, str]]:
        matches = path_matcher(pattern)
        files = [(path, text) for path, text in self.texts.items() if matches(path)]
        if not files:
            raise ConfigError(f"Local file `{pattern}` does not exist!")
        return files

    def project(self, path: str, ref: str | None, file: str) -> tuple[str, "RepositoryFiles"]:
        texts = self.projects[f"{path}@{ref}" if ref else path]
        return texts[file.lstrip("/")], RepositoryFiles(texts, self.projects)

    def component(self, address: str) -> tuple[str, "RepositoryFiles"]:
        return self.texts[address], self

    def remote(self, url: str) -> str:
        return self.texts[url]

    def template(self, name: str) -> str:
        return self.texts[name]

    def artifact(self, job: str, path: str) -> str:
        return self.texts[f"{job}:{path}"]


def read(text: str | bytes, files: RepositoryFiles | None = None, **facts: object) -> PipelineConfig:
    """Read a configuration for a pipeline with some facts."""
    return read_config(text, files or RepositoryFiles(), PipelineFacts(**facts))  # type: ignore[arg-type]


def only_job(text: str) -> JobSpec:
    """Return the first job of a configuration."""
    return read(text).jobs[0]


def plan_or_none(text: str, files: RepositoryFiles | None = None, **facts: object) -> PipelinePlan | None:
    """Plan a pipeline; None if ``workflow:rules`` exclude it."""
    return plan_pipeline(read(text, files, **facts), PipelineFacts(**facts))  # type: ignore[arg-type]


def plan(text: str, files: RepositoryFiles | None = None, **facts: object) -> dict[str, PlannedJob]:
    """Return the planned jobs by name."""
    planned = plan_or_none(text, files, **facts)
    assert planned is not None
    return {job.spec.name: job for job in planned.jobs}


def errors(text: str | bytes, files: RepositoryFiles | None = None, **facts: object) -> tuple[str, ...]:
    """Return the errors of a configuration."""
    with pytest.raises(ConfigError) as raised:
        read(text, files, **facts)
    return raised.value.messages
