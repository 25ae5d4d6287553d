"""Endpoints of feature flags."""

from ingot.accounts.features import queries, service
from ingot.accounts.features.params import SetFeature
from ingot.accounts.features.views import FeatureView, feature_view
from ingot.core.access.rules import administrators
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page

routes = Routes("features")


@routes.get("/features", may=administrators, returns=list[FeatureView])
def list_features(call: Call, page: Page) -> Listing[FeatureView]:
    """List the feature flags that have been set."""
    listing = queries.list_features(call.db, page)
    return listing.of([feature_view(feature) for feature in listing.items])


@routes.get("/features/definitions", may=administrators, returns=list[FeatureView])
def list_feature_definitions(call: Call) -> list[FeatureView]:  # noqa: ARG001 - Every handler gets its call.
    """List the feature flags that this version defines: none, because it has no experimental features."""
    return []


@routes.post("/features/:name", may=administrators, returns=FeatureView)
def set_feature(call: Call, params: SetFeature) -> FeatureView:
    """Set a feature flag, for all users or for targets."""
    return feature_view(service.set_feature(call.db, service.validated_name(call.path["name"]), params))


@routes.delete("/features/:name", may=administrators, returns=FeatureView)
def delete_feature(call: Call) -> FeatureView | None:
    """Delete a feature flag."""
    feature = queries.lock_feature_or_none(call.db, service.validated_name(call.path["name"]))
    if feature is None:
        return None
    service.delete_feature(call.db, feature)
    return feature_view(feature)
