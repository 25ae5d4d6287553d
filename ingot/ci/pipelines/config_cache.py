"""Cache of validated configurations by the ids of their files."""

from ingot.ci.config.compiler import read_config
from ingot.ci.config.evaluation import RuleContext
from ingot.ci.config.plan import PipelineConfig
from ingot.ci.config.yaml_loader import ConfigLimits
from ingot.ci.pipelines.config_files import CommitFiles, FileReader
from ingot.ci.pipelines.rule_context import ObservedContext
from ingot.core.cache import BoundedCache, declare_cache

_BYTES_PER_CHARACTER = 30
"""Estimate of the memory of a configuration per character of its file."""
_FilesAndConfig = tuple[tuple[tuple[str, str | None], ...], PipelineConfig]
_config_cache: BoundedCache[tuple[str, str, ConfigLimits], _FilesAndConfig] = declare_cache(
    "ci-configurations", share=1
)


def read_cached_config(
    reader: FileReader, source: CommitFiles, path: str, oid: str, context: RuleContext, limits: ConfigLimits
) -> PipelineConfig:
    """Return the validated configuration of a file by its path and id; raise ConfigError.

    It is cached with the ids of the files of the commit that it includes, if it depends on nothing else: not on
    variables, patterns, other projects or other servers.
    """
    cached = _config_cache.get((path, oid, limits))
    if cached is not None:
        files, config = cached
        if all(reader.blob_id_or_none(name) == file_oid for name, file_oid in files):
            return config
    text = reader.text_of_blob(oid, path)
    reader.read_ids.clear()
    observed = ObservedContext(context)
    config = read_config(text, source, observed, limits=limits)
    if not observed.used and not source.read_elsewhere:
        files = tuple(reader.read_ids.items())
        _config_cache.put((path, oid, limits), (files, config), _BYTES_PER_CHARACTER * len(text) * (1 + len(files)))
    return config
