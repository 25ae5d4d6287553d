"""Regular expressions that choose the branches of a pull mirror, matched in linear time."""

from collections.abc import Callable

from ingot.core.errors import Invalid
from ingot.core.late_imports import require_modules
from ingot.git.core.names import ref_name_error


def branch_matcher(pattern: str, option: str = "mirror_branch_regex") -> Callable[[str], bool]:
    """Return the function that decides whether a name matches the expression of an option; raise Invalid."""
    require_modules("re2")  # Few mirrors have an expression, and the library takes 4 MB.
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        raise Invalid(**{option: ["is not a valid regular expression"]}) from error
    return lambda branch: compiled.search(branch) is not None


def require_branch_template(template: str) -> None:
    """Raise Invalid for a template of branches for issues that makes no valid name."""
    if ref_name_error(template.replace("%{id}", "1").replace("%{title}", "title")):
        raise Invalid(issue_branch_template=["must make valid names of branches"])
