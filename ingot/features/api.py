"""Feature flags over the API."""

from ingot.access.rules import administrators
from ingot.api.routes import Call, Routes
from ingot.db.paging import Listing, Page
from ingot.features import queries, service
from ingot.features.params import SetFeature
from ingot.features.views import FeatureView, feature_view

routes = Routes("features")


@routes.get("/features", may=administrators, returns=list[FeatureView])
def list_features(call: Call, page: Page) -> Listing[FeatureView]:
    """List the feature flags that were set."""
    found = queries.list_features(call.db, page)
    return found.of([feature_view(feature) for feature in found.items])


@routes.post("/features/:name", may=administrators, returns=FeatureView)
def set_feature(call: Call, params: SetFeature) -> FeatureView:
    """Set a feature flag, for everybody or for some."""
    return feature_view(service.set_feature(call.db, service.valid_name(call.path["name"]), params))


@routes.delete("/features/:name", may=administrators, returns=FeatureView)
def delete_feature(call: Call) -> FeatureView | None:
    """Delete a feature flag."""
    feature = queries.feature_or_none(call.db, service.valid_name(call.path["name"]))
    if feature is None:
        return None
    service.delete_feature(call.db, feature)
    return feature_view(feature)
