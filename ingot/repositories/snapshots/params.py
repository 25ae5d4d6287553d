"""Request parameters of snapshots."""

from ingot.core.api.params import Params


class GetSnapshot(Params):
    """Choice of the repository."""

    wiki: bool = False
