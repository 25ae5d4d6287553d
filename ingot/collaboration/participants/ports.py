"""Registry of the kinds of subjects, filled with those of packages above."""

from dataclasses import dataclass

from ingot.collaboration.participants.subject_kinds import SubjectKind


@dataclass(frozen=True, slots=True)
class SubjectKinds:
    """Every kind of subject that has participants, todos, notifications and events."""

    kinds: tuple[SubjectKind, ...]
