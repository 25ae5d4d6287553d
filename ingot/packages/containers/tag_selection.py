"""Selection of tags to delete by patterns, number and age."""

from collections.abc import Callable, Iterable

from ingot.ci.config.durations import parse_duration
from ingot.ci.config.patterns import pattern_matcher
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.errors import Invalid
from ingot.core.late_imports import require_modules
from ingot.packages.containers.params import DeleteContainerTags
from ingot.packages.containers.tables import ContainerTag

PROTECTED_TAG = "latest"


def select_tags(tags: Iterable[ContainerTag], params: DeleteContainerTags, now: Timestamp) -> list[ContainerTag]:
    """Return the tags to delete, never ``latest``; raise Invalid for malformed criteria."""
    pattern = params.name_regex_delete or params.name_regex
    if not pattern:
        raise Invalid("name_regex_delete, name_regex are missing, at least one parameter must be provided")
    matches = _matcher("name_regex_delete", pattern)
    keeps = _matcher("name_regex_keep", params.name_regex_keep) if params.name_regex_keep else lambda _: False
    newest_first = sorted(tags, key=lambda tag: (tag.updated_at, tag.id), reverse=True)
    selected = [tag for tag in newest_first if tag.name != PROTECTED_TAG and matches(tag.name)]
    selected = [tag for tag in selected if not keeps(tag.name)][max(params.keep_n or 0, 0) :]
    if not params.older_than:
        return selected
    seconds = parse_duration(params.older_than)
    if seconds is None:
        raise Invalid(older_than=["is invalid"])
    before = add_duration(now, seconds=-seconds)
    return [tag for tag in selected if tag.updated_at < before]


def _matcher(field: str, pattern: str) -> Callable[[str], bool]:
    require_modules("re2")
    matcher = pattern_matcher(f"/^(?:{pattern})$/")
    if matcher is None:
        raise Invalid(**{field: ["is invalid"]})
    return matcher
