"""Files that a configuration includes: local, from other projects, remote, from templates and from components."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ingot.ci.config.checks import flatten
from ingot.ci.config.errors import ConfigError
from ingot.ci.config.evaluation import RuleContext, RuleScope
from ingot.ci.config.inputs import with_inputs
from ingot.ci.config.job_specs import config_rules
from ingot.ci.config.keywords import include_entry
from ingot.ci.config.merge import deep_merge
from ingot.ci.config.variables import expand_text
from ingot.ci.config.yaml_loader import Budget, ConfigLimits, load_documents

_WITHOUT_EFFECT = re.compile(r"^# Without effect: (.+)$", re.MULTILINE)
"""Comment in a template that exists only so that files which include it stay valid."""
_KINDS = ("local", "project", "remote", "template", "component", "artifact")


class FileSource(Protocol):
    """Reads the files that a configuration includes; each method raises ConfigError if it may not be read."""

    def local(self, pattern: str) -> Sequence[tuple[str, str]]:
        """Return paths and texts of the files that match a path or a pattern with wildcards."""
        ...

    def project(self, path: str, ref: str | None, file: str) -> tuple[str, "FileSource"]:
        """Return a file of another project, and the source for the files that it includes."""
        ...

    def remote(self, url: str) -> str:
        """Return the text behind a URL."""
        ...

    def template(self, name: str) -> str:
        """Return a template of this instance."""
        ...

    def component(self, address: str) -> tuple[str, "FileSource"]:
        """Return the file of a component, and the source for the files that it includes."""
        ...

    def artifact(self, job: str, path: str) -> str:
        """Return a file that a job of the parent pipeline has created."""
        ...


class _IncludedFile(NamedTuple):
    key: tuple[object, ...]
    name: str
    text: str
    source: FileSource


class Includes:
    """Reads a file with everything that it includes."""

    def __init__(self, context: RuleContext, limits: ConfigLimits) -> None:
        self._scope = RuleScope(context, {})
        self._budget = Budget(limits=limits)
        self._count = 0
        self.warnings: list[str] = []
        """Templates that were included and have no effect."""

    def load(
        self,
        text: str | bytes,
        source: FileSource,
        inputs: Mapping[str, Any] | None = None,
        path: tuple[tuple[object, ...], ...] = (),
    ) -> dict[str, Any]:
        """Parse a file and merge its includes; the file itself has precedence."""
        documents = load_documents(text, self._budget)
        config = _document(with_inputs(documents, inputs or {}, self._scope.variables))
        merged: dict[str, Any] = {}
        for entry in _entries(config.pop("include", None)):
            for file in self._files(entry, source):
                merged = deep_merge(merged, self._nested(file, entry.get("inputs"), path))
        return deep_merge(merged, config)

    def _files(self, entry: Mapping[str, Any], source: FileSource) -> Iterator[_IncludedFile]:
        rules = config_rules(entry.get("rules"))
        if rules is not None:
            match = self._scope.first_match(rules)
            if match is None or match.when == "never":
                return
        kind = next(kind for kind in _KINDS if entry.get(kind) is not None)
        if kind == "component":
            name = self._expanded(entry[kind])
            text, inner = source.component(name)
            yield _IncludedFile((kind, name), name, text, inner)
        elif kind == "artifact":
            job, name = self._expanded(entry.get("job") or ""), self._expanded(entry["artifact"])
            yield _IncludedFile((kind, job, name), name, source.artifact(job, name), source)
        elif kind == "project":
            yield from self._project_files(entry, source)
        else:
            name = self._expanded(entry[kind])
            if kind == "local":
                for path, text in source.local(name):
                    yield _IncludedFile((id(source), path), path, text, source)
            else:
                text = getattr(source, kind)(name)
                without_effect = _WITHOUT_EFFECT.search(text) if kind == "template" else None
                if without_effect is not None:
                    self.warnings.append(f"Template `{name}` has no effect: {without_effect[1]}")
                yield _IncludedFile((kind, name), name, text, source)

    def _project_files(self, entry: Mapping[str, Any], source: FileSource) -> Iterator[_IncludedFile]:
        files = entry["file"]
        project = self._expanded(entry["project"])
        ref = None if entry.get("ref") is None else self._expanded(entry["ref"])
        for file in files if isinstance(files, list) else [files]:
            name = self._expanded(file)
            text, inner = source.project(project, ref, name)
            yield _IncludedFile((project, ref, name.lstrip("/")), f"{project}: {name}", text, inner)

    def _expanded(self, text: str) -> str:
        return expand_text(text, self._scope.variables)

    def _nested(self, file: _IncludedFile, inputs: Any, path: tuple[tuple[object, ...], ...]) -> dict[str, Any]:
        if file.key in path:
            raise ConfigError(f"Include `{file.name}` was already included!")
        self._count += 1
        if self._count > self._budget.limits.includes:
            raise ConfigError(f"Maximum of {self._budget.limits.includes} nested includes are allowed!")
        try:
            return self.load(file.text, file.source, inputs, (*path, file.key))
        except ConfigError as error:
            if path or len(error.messages) != 1 or error.messages[0].startswith("Include"):
                raise
            raise ConfigError(f"Included file `{file.name}`: {error.messages[0]}") from error


def _document(document: Any) -> dict[str, Any]:
    """Return the mapping of a file; keys such as ``on``, which YAML reads as a boolean, become text."""
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigError("Invalid configuration format")
    return {str(name).lower() if isinstance(name, bool) else name: value for name, value in document.items()}


def _entries(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the entries of ``include``, each with one kind of file; raise ConfigError if one is not valid."""
    for entry in [] if value is None else flatten(value) or []:
        if isinstance(entry, str):
            yield {"remote" if entry.startswith(("http://", "https://")) else "local": entry}
            continue
        problems = [f"include{path} {problem}" for path, problem in include_entry(entry)]
        if not problems and sum(entry.get(kind) is not None for kind in _KINDS) != 1:
            problems.append(f"include config should have exactly one of: {', '.join(_KINDS)}")
        if not problems and entry.get("project") is not None and entry.get("file") is None:
            problems.append("include config must specify the file where to fetch the config from")
        if problems:
            raise ConfigError(*problems)
        yield entry
