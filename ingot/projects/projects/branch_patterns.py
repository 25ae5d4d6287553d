"""Regular expressions that choose the branches of a pull mirror, matched in linear time."""

from collections.abc import Callable

from ingot.errors import Invalid


def branch_matcher(pattern: str) -> Callable[[str], bool]:
    """Return the function that decides whether a branch matches; raise Invalid for an invalid expression."""
    import re2  # Few mirrors have an expression, and the library takes 4 MB.

    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        raise Invalid(mirror_branch_regex=["is not a valid regular expression"]) from error
    return lambda branch: compiled.search(branch) is not None
