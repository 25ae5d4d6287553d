"""Limits of the default plan, which are settings of the instance, and those that this server does not have."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from ingot.accounts.instance.all_settings import AllSettings, DotenvSize, DotenvVariables, NeedsLimit, all_settings
from ingot.accounts.instance.params import ModifySettings
from ingot.accounts.instance.service import modify_settings
from ingot.core.api.params import Params, given_fields
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid

PlanName = Literal["default"]
Limit = Annotated[int, Meta(ge=0, le=2**53)] | UnsetType
_Unsupported = Annotated[int, Meta(description="Refused: this server has no such limit.")] | UnsetType


class GetPlanLimits(Params):
    """Plan to get; there is one."""

    plan_name: PlanName = "default"


class ChangePlanLimits(Params):
    """Limits to change."""

    plan_name: PlanName
    ci_instance_level_variables: Limit = UNSET
    ci_needs_size_limit: NeedsLimit | UnsetType = UNSET
    ci_pipeline_schedules: Limit = UNSET
    dotenv_size: DotenvSize | UnsetType = UNSET
    dotenv_variables: DotenvVariables | UnsetType = UNSET
    generic_packages_max_file_size: Limit = UNSET
    maven_max_file_size: Limit = UNSET
    npm_max_file_size: Limit = UNSET
    pypi_max_file_size: Limit = UNSET
    ci_active_jobs: _Unsupported = UNSET
    ci_pipeline_size: _Unsupported = UNSET
    ci_project_subscriptions: _Unsupported = UNSET
    ci_registered_group_runners: _Unsupported = UNSET
    ci_registered_project_runners: _Unsupported = UNSET
    conan_max_file_size: _Unsupported = UNSET
    enforcement_limit: _Unsupported = UNSET
    helm_max_file_size: _Unsupported = UNSET
    notification_limit: _Unsupported = UNSET
    nuget_max_file_size: _Unsupported = UNSET
    storage_size_limit: _Unsupported = UNSET
    terraform_module_max_file_size: _Unsupported = UNSET


class PlanLimitsView(View):
    """Limits that have an effect on this server; 0 of a number of objects or of a file size means no limit."""

    ci_instance_level_variables: int
    ci_needs_size_limit: int
    ci_pipeline_schedules: int
    dotenv_size: int
    dotenv_variables: int
    generic_packages_max_file_size: int
    maven_max_file_size: int
    npm_max_file_size: int
    pypi_max_file_size: int


def plan_limits_view(settings: AllSettings, default_needs: int) -> PlanLimitsView:
    """Return the limits; ``default_needs`` is that of the startup settings."""
    values = {name: getattr(settings, name) for name in PlanLimitsView.__struct_fields__}
    if settings.ci_needs_size_limit is None:
        values["ci_needs_size_limit"] = default_needs
    return PlanLimitsView(**values)


def change_plan_limits(db: Connection, params: ChangePlanLimits) -> AllSettings:
    """Change the given limits, or none if this server does not have all of them."""
    given = given_fields(params, "plan_name")
    refused = {
        name: [f"cannot be changed to {value}: not supported by this server"]
        for name, value in given.items()
        if name not in PlanLimitsView.__struct_fields__
    }
    if refused:
        raise Invalid(**refused)
    if given:
        modify_settings(db, ModifySettings(**given))
    return all_settings(db)
