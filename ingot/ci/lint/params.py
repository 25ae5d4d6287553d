"""Request parameters of the CI lint."""

from ingot.core.api.params import Params


class LintConfig(Params):
    """Text of a CI file."""

    content: str
