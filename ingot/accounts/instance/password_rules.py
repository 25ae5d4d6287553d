"""Rules for new passwords, from the settings of the instance."""

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.core.access.passwords import PasswordRules
from ingot.core.db.connection import Connection


def current_password_rules(db: Connection) -> PasswordRules:
    """Return the rules that every new password must follow."""
    settings = cached_all_settings(db)
    return PasswordRules(
        min_length=settings.minimum_password_length,
        number=settings.password_number_required,
        symbol=settings.password_symbol_required,
        uppercase=settings.password_uppercase_required,
        lowercase=settings.password_lowercase_required,
    )
