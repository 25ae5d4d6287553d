"""Fields for the inputs of a pipeline or schedule, as ``spec:inputs`` of the configuration declares them."""

from collections.abc import Mapping
from typing import Any

from ingot.ci.config.inputs import InputSpec
from ingot.ci.pipelines.start import declared_inputs
from ingot.core.offload import require_blocking_allowed
from ingot.projects.projects import api as projects_api
from ingot.web.page_routes import Visit, text_field
from ingot.web.projects.context import ProjectContext

SHOW_INPUTS = "show_inputs"
"""Name of the button that shows the form again, with the inputs of the branch that was typed."""
_MAX_INPUTS = 100
_BOOLEANS = ("true", "false")


def inputs_of_ref(parent: ProjectContext, ref: str) -> tuple[InputSpec, ...]:
    """Return the inputs that the configuration of a branch or tag declares."""
    visit = parent.visit
    require_blocking_allowed()
    project = parent.find(projects_api.get_project).project
    store = projects_api.repository_store(visit.settings)
    return declared_inputs(visit.database, store, project, visit.viewer.actor, ref)


def form_inputs(visit: Visit) -> dict[str, str]:
    """Return the texts of the fields ``inputs[N][name]`` and ``inputs[N][value]`` by name."""
    sent = visit.request.form.get("inputs")
    rows = list(sent.values())[:_MAX_INPUTS] if isinstance(sent, dict) else []
    return {text_field(row, "name"): text_field(row, "value") for row in rows if isinstance(row, dict)}


def given_inputs(specs: tuple[InputSpec, ...], typed: Mapping[str, str]) -> dict[str, Any]:
    """Return the typed values of the declared inputs; an empty field counts as given only if it may be empty."""
    return {
        spec.name: spec.value(typed[spec.name])
        for spec in specs
        if spec.name in typed and (typed[spec.name] or (spec.kind == "string" and not spec.required))
    }


def input_rows(specs: tuple[InputSpec, ...], values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of the form; inputs without a value show their default."""
    return [
        {
            "name": spec.name,
            "kind": spec.kind,
            "value": spec.text(values.get(spec.name, spec.default)),
            "required": spec.required,
            "description": spec.description,
            "options": _BOOLEANS if spec.kind == "boolean" else () if spec.kind == "array" else spec.options,
        }
        for spec in specs
    ]
