"""Files that a configuration includes: local, from other projects, remote and from templates."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ingot.ci.config.checks import flatten
from ingot.ci.config.errors import ConfigError
from ingot.ci.config.evaluation import RuleContext, first_match
from ingot.ci.config.inputs import with_inputs
from ingot.ci.config.job_specs import config_rules
from ingot.ci.config.merging import deep_merge
from ingot.ci.config.variables import expand_text
from ingot.ci.config.yaml_loader import load_documents

MAX_INCLUDES = 150
_KINDS = ("local", "file", "remote", "template", "component", "artifact")
_ENTRY_KEYS = frozenset({*_KINDS, "project", "ref", "rules", "inputs", "integrity", "job", "cache"})


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


class Includes:
    """Reads a file with everything that it includes."""

    def __init__(self, context: RuleContext) -> None:
        self._context = context
        self._count = 0
        self.warnings: list[str] = []

    def load(
        self, text: str, source: FileSource, inputs: Mapping[str, Any] | None = None, path: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """Parse a file and merge its includes; the file itself has precedence."""
        config = _document(with_inputs(load_documents(text), inputs or {}))
        entries = config.pop("include", None)
        merged: dict[str, Any] = {}
        for entry in _entries(entries):
            for included in self._include(entry, source, path):
                merged = deep_merge(merged, included)
        return deep_merge(merged, config)

    def _include(self, entry: dict[str, Any], source: FileSource, path: tuple[str, ...]) -> list[dict[str, Any]]:
        rules = config_rules(entry.get("rules"))
        if rules is not None:
            match = first_match(rules, self._context)
            if match is None or match.when == "never":
                return []
        return [
            self._nested(name, text, inner, entry.get("inputs"), path)
            for name, text, inner in self._files(entry, source)
        ]

    def _files(self, entry: dict[str, Any], source: FileSource) -> list[tuple[str, str, FileSource]]:
        if entry.get("component") is not None or entry.get("artifact") is not None:
            kind = "component" if entry.get("component") is not None else "artifact"
            self.warnings.append(f"include:{kind} is not supported and was ignored")
            return []
        if entry.get("project") is not None:
            files = entry.get("file")
            project = self._expanded(entry["project"])
            ref = self._expanded(entry["ref"]) if entry.get("ref") is not None else None
            names = [self._expanded(name) for name in (files if isinstance(files, list) else [files])]
            return [(f"{project}:{ref}:{name}", *source.project(project, ref, name)) for name in names]
        if entry.get("remote") is not None:
            url = self._expanded(entry["remote"])
            return [(url, source.remote(url), source)]
        if entry.get("template") is not None:
            name = self._expanded(entry["template"])
            return [(f"template:{name}", source.template(name), source)]
        pattern = self._expanded(entry.get("local"))
        return [(f"{id(source)}:{name}", text, source) for name, text in source.local(pattern)]

    def _expanded(self, text: Any) -> str:
        if not isinstance(text, str):
            raise ConfigError("Included file needs to be a string")
        return expand_text(text, self._context.variables)

    def _nested(self, name: str, text: str, source: FileSource, inputs: Any, path: tuple[str, ...]) -> dict[str, Any]:
        if name in path:
            raise ConfigError(f"Include `{name.partition(':')[2] or name}` was already included!")
        self._count += 1
        if self._count > MAX_INCLUDES:
            raise ConfigError(f"Maximum of {MAX_INCLUDES} nested includes are allowed!")
        return self.load(text, source, inputs if isinstance(inputs, Mapping) else None, (*path, name))


def _document(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict):
        raise ConfigError("Invalid configuration format")
    return {
        name if isinstance(name, str) else str(name).lower() if isinstance(name, bool) else name: value
        for name, value in document.items()
    }


def _entries(value: Any) -> list[dict[str, Any]]:
    entries = []
    for entry in flatten(value) or [] if value is not None else []:
        if isinstance(entry, str):
            kind = "remote" if entry.startswith(("http://", "https://")) else "local"
            entries.append({kind: entry})
        elif isinstance(entry, dict) and entry.keys() <= _ENTRY_KEYS and any(entry.get(kind) for kind in _KINDS):
            entries.append(entry)
        else:
            raise ConfigError("Each include must use one of: `local`, `project` and `file`, `remote`, `template`")
    return entries
