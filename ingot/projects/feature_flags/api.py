"""Endpoints of feature flags, of lists of users, and of the applications that read the flags."""

from ingot.core.access.rules import anyone
from ingot.core.api.params import number_or_none, path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.projects.feature_flags import policy, queries, service
from ingot.projects.feature_flags.params import (
    CreateFeatureFlag,
    CreateUserList,
    EditFeatureFlag,
    EditUserList,
    ListFeatureFlags,
    ListUserLists,
    UnleashClient,
)
from ingot.projects.feature_flags.views import (
    FeatureFlagView,
    UnleashFeaturesView,
    UserListView,
    feature_flag_views,
    unleash_features_view,
    user_list_view,
)
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.tables import Project

routes = Routes("feature_flags")
UNLEASH_HEADERS = {"unleash-instanceid": "instance_id", "unleash-appname": "app_name"}


@routes.get(
    "/projects/:id/feature_flags", on=project_in_path, may=policy.may_read_feature_flags, returns=list[FeatureFlagView]
)
def list_feature_flags(call: Call, project: Project, params: ListFeatureFlags, page: Page) -> Listing[FeatureFlagView]:
    """List the feature flags of a project."""
    listing = queries.list_feature_flags(call.db, project, params, page)
    return listing.of(feature_flag_views(call.db, listing.items))


@routes.post(
    "/projects/:id/feature_flags", on=project_in_path, may=policy.may_change_feature_flags, returns=FeatureFlagView
)
def create_feature_flag(call: Call, project: Project, params: CreateFeatureFlag) -> FeatureFlagView:
    """Create a feature flag."""
    return feature_flag_views(call.db, [service.create_feature_flag(call.db, project, params)])[0]


@routes.get(
    "/projects/:id/feature_flags/:feature_flag_name",
    on=project_in_path,
    may=policy.may_read_feature_flags,
    returns=FeatureFlagView,
)
def get_feature_flag(call: Call, project: Project) -> FeatureFlagView:
    """Get a feature flag."""
    flag = queries.find_feature_flag(call.db, project, call.path["feature_flag_name"])
    return feature_flag_views(call.db, [flag])[0]


@routes.put(
    "/projects/:id/feature_flags/:feature_flag_name",
    on=project_in_path,
    may=policy.may_change_feature_flags,
    returns=FeatureFlagView,
)
def edit_feature_flag(call: Call, project: Project, params: EditFeatureFlag) -> FeatureFlagView:
    """Change a feature flag, its strategies and their scopes."""
    flag = queries.find_feature_flag(call.db, project, call.path["feature_flag_name"])
    return feature_flag_views(call.db, [service.edit_feature_flag(call.db, project, flag, params)])[0]


@routes.delete(
    "/projects/:id/feature_flags/:feature_flag_name",
    on=project_in_path,
    may=policy.may_change_feature_flags,
    returns=FeatureFlagView,
)
def delete_feature_flag(call: Call, project: Project) -> FeatureFlagView | None:
    """Delete a feature flag."""
    flag = queries.feature_flag_or_none(call.db, project, call.path["feature_flag_name"])
    if flag is None:
        return None
    view = feature_flag_views(call.db, [flag])[0]
    service.delete_feature_flag(call.db, flag)
    return view


@routes.get(
    "/projects/:id/feature_flags_user_lists",
    on=project_in_path,
    may=policy.may_read_feature_flags,
    returns=list[UserListView],
)
def list_user_lists(call: Call, project: Project, params: ListUserLists, page: Page) -> Listing[UserListView]:
    """List the lists of users of a project."""
    listing = queries.list_user_lists(call.db, project, params, page)
    return listing.of([user_list_view(each) for each in listing.items])


@routes.post(
    "/projects/:id/feature_flags_user_lists",
    on=project_in_path,
    may=policy.may_change_feature_flags,
    returns=UserListView,
)
def create_user_list(call: Call, project: Project, params: CreateUserList) -> UserListView:
    """Create a list of users."""
    return user_list_view(service.create_user_list(call.db, project, params))


@routes.get(
    "/projects/:id/feature_flags_user_lists/:iid",
    on=project_in_path,
    may=policy.may_read_feature_flags,
    returns=UserListView,
)
def get_user_list(call: Call, project: Project) -> UserListView:
    """Get a list of users."""
    return user_list_view(queries.find_user_list(call.db, project, path_number(call.path, "iid")))


@routes.put(
    "/projects/:id/feature_flags_user_lists/:iid",
    on=project_in_path,
    may=policy.may_change_feature_flags,
    returns=UserListView,
)
def edit_user_list(call: Call, project: Project, params: EditUserList) -> UserListView:
    """Change a list of users."""
    user_list = queries.find_user_list(call.db, project, path_number(call.path, "iid"))
    return user_list_view(service.edit_user_list(call.db, project, user_list, params))


@routes.delete(
    "/projects/:id/feature_flags_user_lists/:iid",
    on=project_in_path,
    may=policy.may_change_feature_flags,
    returns=None,
)
def delete_user_list(call: Call, project: Project) -> None:
    """Delete a list of users that no strategy uses."""
    user_list = queries.user_list_or_none(call.db, project, path_number(call.path, "iid"))
    if user_list is not None:
        service.delete_user_list(call.db, user_list)


def _project_of_client(call: Call, params: UnleashClient) -> int:
    return queries.authenticate_client(call.db, number_or_none(call.path["project_id"]), params.instance_id)


@routes.get("/feature_flags/unleash/:project_id", may=anyone, returns=None, header_params=UNLEASH_HEADERS)
def check_client(call: Call, params: UnleashClient) -> None:
    """Check the instance id of an application."""
    _project_of_client(call, params)


@routes.get(
    "/feature_flags/unleash/:project_id/features",
    may=anyone,
    returns=UnleashFeaturesView,
    header_params=UNLEASH_HEADERS,
)
def list_features(call: Call, params: UnleashClient) -> UnleashFeaturesView:
    """List the feature flags of an environment, at the address that old clients use."""
    return list_client_features(call, params)


@routes.get(
    "/feature_flags/unleash/:project_id/client/features",
    may=anyone,
    returns=UnleashFeaturesView,
    header_params=UNLEASH_HEADERS,
)
def list_client_features(call: Call, params: UnleashClient) -> UnleashFeaturesView:
    """List the feature flags of the environment that an application names."""
    return unleash_features_view(call.db, _project_of_client(call, params), params.app_name)


@routes.post(
    "/feature_flags/unleash/:project_id/client/register",
    may=anyone,
    returns=None,
    status=202,
    header_params=UNLEASH_HEADERS,
)
def register_client(call: Call, params: UnleashClient) -> None:
    """Accept the registration of an application; nothing is stored."""
    _project_of_client(call, params)


@routes.post(
    "/feature_flags/unleash/:project_id/client/metrics",
    may=anyone,
    returns=None,
    status=202,
    header_params=UNLEASH_HEADERS,
)
def report_client_metrics(call: Call, params: UnleashClient) -> None:
    """Accept the metrics of an application; nothing is stored."""
    _project_of_client(call, params)
