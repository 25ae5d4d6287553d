"""Request parameters of push rules."""

from typing import TYPE_CHECKING

from ingot.core.api.declared_fields import params_of
from ingot.core.api.params import Params
from ingot.projects.namespaces.push_rule import PushRule

if TYPE_CHECKING:  # The fields are declared once, and created at run time.
    _RuleParams = Params
else:
    _RuleParams = params_of(PushRule, without=("created_at",))


class EditPushRule(_RuleParams):
    """Conditions of a push rule."""
