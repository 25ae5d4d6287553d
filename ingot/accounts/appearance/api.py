"""Endpoints of the appearance."""

from ingot.accounts.appearance import service
from ingot.accounts.appearance.params import ChangeAppearance
from ingot.accounts.appearance.records import current_appearance
from ingot.accounts.appearance.views import AppearanceView, appearance_view
from ingot.core.access.rules import administrators
from ingot.core.api.routes import Call, Routes

routes = Routes("instance")


@routes.get("/application/appearance", may=administrators, returns=AppearanceView)
def get_appearance(call: Call) -> AppearanceView:
    """Get the texts, colors and images with which administrators adapt the pages."""
    return appearance_view(current_appearance(call.db))


@routes.put("/application/appearance", may=administrators, returns=AppearanceView)
def change_appearance(call: Call, params: ChangeAppearance) -> AppearanceView:
    """Change texts, colors and images of the pages."""
    return appearance_view(service.change_appearance(call.db, params))
