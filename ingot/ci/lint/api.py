"""Endpoint of the CI lint."""

from ingot.ci.config.compiler import plan_pipeline, read_config
from ingot.ci.config.errors import ConfigError
from ingot.ci.lint.params import LintConfig
from ingot.ci.lint.standalone import StandaloneContext, StandaloneSource
from ingot.ci.lint.views import LintView
from ingot.core.access.rules import anyone
from ingot.core.api.routes import Call, Routes

routes = Routes("lint")


@routes.post("/ci/lint", may=anyone, returns=LintView, status=200)
def lint_config(call: Call, params: LintConfig) -> LintView:  # noqa: ARG001 - Every handler takes the call.
    """Validate the text of a CI file."""
    context = StandaloneContext()
    try:
        config = read_config(params.content, StandaloneSource(), context)
        plan_pipeline(config, context)
    except ConfigError as error:
        return LintView(status="invalid", errors=list(error.messages), warnings=[])
    return LintView(status="valid", errors=[], warnings=list(config.warnings))
