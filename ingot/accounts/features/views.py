"""Response structs of feature flags."""

from typing import Any, Literal

import msgspec

from ingot.accounts.features.tables import FeatureFlag, Gates
from ingot.core.api.views import View


class GateView(View):
    """A gate of a flag."""

    key: str
    value: bool | int | tuple[str, ...]


class FeatureView(View):
    """A flag with its gates that are set, and always the boolean one."""

    name: str
    state: Literal["on", "off", "conditional"]
    gates: list[GateView]


def feature_view(feature: FeatureFlag) -> FeatureView:
    """Return a flag with its gates, from the widest to the narrowest."""
    gates = msgspec.json.decode(feature.gates, type=Gates)
    values: dict[str, Any] = msgspec.structs.asdict(gates)
    shown = [GateView(key, value) for key, value in values.items() if value or key == "boolean"]
    return FeatureView(feature.name, _state(gates), shown)


def _state(gates: Gates) -> Literal["on", "off", "conditional"]:
    if gates.boolean or gates.percentage_of_time == 100:
        return "on"
    return "conditional" if gates != Gates() else "off"
