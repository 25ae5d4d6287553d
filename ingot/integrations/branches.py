"""Branch filter of services."""

from ingot.core.errors import Invalid

BRANCH_CHOICES = ("all", "default")


def notifies_branch(choice: str | None, branch: str, default_branch: str | None) -> bool:
    """Check whether a service receives events of a branch."""
    return choice != "default" or branch == default_branch


def validate_branch_choice(choice: str) -> None:
    """Raise Invalid for an unknown choice of branches."""
    if choice not in BRANCH_CHOICES:
        raise Invalid(branches_to_be_notified=["does not have a valid value"])
