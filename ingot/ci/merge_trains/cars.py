"""Steps of one car of a merge train: the check of its merge request, its commit, and its removal."""

from collections.abc import Sequence

from ingot.accounts.users.actors import active_actor
from ingot.collaboration.merge_requests.merge.context import (
    MergeBlocked,
    MergeContext,
    fetch_head,
    load_merge_context,
    require_ready,
)
from ingot.collaboration.merge_requests.merge.merge_options import MergeOptions, decode_merge_options
from ingot.collaboration.merge_requests.merge.perform import PreparedMerge
from ingot.collaboration.merge_requests.merge.train_commits import (
    NothingToMerge,
    build_train_commits,
    merge_settings,
)
from ingot.collaboration.merge_requests.merge.train_queries import car_or_none
from ingot.collaboration.merge_requests.merge.train_service import (
    TrainOutdated,
    drop_car,
    expel_from_train,
    store_result,
)
from ingot.collaboration.merge_requests.mergeability_check import has_source_branch
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.tables import MergeTrainCar
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Denied, NotFound
from ingot.git.core.repository import Repository
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.merge_commits import MergeResult, TooManyCommits
from ingot.git.writing.merge_request_commits import merge_request_train_ref
from ingot.git.writing.merge_trees import MergeConflict
from ingot.git.writing.ref_updates import RefMoved, RefUpdate, create_ref, update_refs

_CONFLICTS = "The changes conflict with {}."
_MERGED = "{} contains the changes already."
_MOVED = "New commits were pushed."
_DELETED = "The source branch was deleted."


class CarRemoved(Exception):
    """Cars cannot be tested or merged, for the reason of the message."""

    def __init__(self, cars: Sequence[MergeTrainCar], reason: str) -> None:
        super().__init__(reason)
        self.cars = cars


def expel(db: Connection, cars: Sequence[MergeTrainCar], reason: str) -> None:
    """Remove cars, unless they have changed meanwhile, so that the reason may not apply any more."""
    for car in cars:
        current = car_or_none(db, car.merge_request_id)
        if current is None or current != car:
            continue
        try:
            expel_from_train(db, merge_request_by_id(db, car.merge_request_id), reason)
        except NotFound:
            pass  # The merge request was deleted.
        if car_or_none(db, car.merge_request_id) is not None:  # Not scheduled any more, so it cannot leave by that.
            drop_car(db, car)


class CarStep:
    """A car whose commit is built or merged."""

    def __init__(self, database: Database, store: RepositoryStore, repository: Repository, car: MergeTrainCar) -> None:
        self._database = database
        self._store = store
        self._repository = repository
        self._car = car

    def build(self, base: str) -> str:
        """Return the commit of the car on ``base``; create and store it if it is missing."""
        car = self._car
        if car.base_oid == base and car.commit_oid is not None:
            return car.commit_oid
        context, options = self._context(self._actor())
        result = self._commit(context, options, base)
        self._move_train_ref(context.merge_request.iid, result.commit)
        settings = merge_settings(context.project, context.merge_request)
        if not self._database.write(lambda db: store_result(db, car, base, result, settings)):
            raise TrainOutdated
        return result.commit

    def prepare(self) -> PreparedMerge:
        """Return the merge of the tested commit; raise ``CarRemoved`` if the merge request must not be merged.

        Raises ``TrainOutdated`` if it was built by settings that have changed.
        """
        actor = self._actor()
        context, options = self._context(actor)
        if self._car.built_by not in (None, merge_settings(context.project, context.merge_request)):
            raise TrainOutdated
        tested = MergeResult(self._car.commit_oid or "", self._car.squash_oid)
        return PreparedMerge(actor, context, options, tested)

    def move(self, merge: PreparedMerge, base: str) -> PreparedMerge:
        """Return the merge onto ``base``, which was not tested: only merges that skip the train have moved it."""
        result = self._commit(merge.context, merge.options, base)
        return merge._replace(result=result, train_oid=merge.result.commit)

    def _actor(self) -> Actor:
        user_id = self._car.user_id
        actor = None if user_id is None else self._database.read(lambda db: active_actor(db, user_id))
        if actor is None:
            raise CarRemoved([self._car], "The user who added it may no longer merge it.")
        return actor

    def _context(self, actor: Actor) -> tuple[MergeContext, MergeOptions]:
        """Return the state of the merge request; raise ``CarRemoved`` if it must not be merged."""
        try:
            context = load_merge_context(self._database, self._store, actor, self._car.merge_request_id)
            options = decode_merge_options(context.merge_request.merge_params)
            # The pipeline of the train replaces that of the head.
            require_ready(context._replace(pipeline=None), options, later=True)
        except MergeBlocked as error:
            raise CarRemoved([self._car], str(error)) from None
        except (Denied, NotFound):
            raise CarRemoved([self._car], "The user who added it may no longer merge it.") from None
        except Conflict:
            raise CarRemoved([self._car], _MOVED) from None
        if context.merge_request.head_oid != self._car.head_oid:
            raise CarRemoved([self._car], _MOVED)
        if not has_source_branch(context.source, context.merge_request):
            raise CarRemoved([self._car], _DELETED)
        return context, options

    def _commit(self, context: MergeContext, options: MergeOptions, base: str) -> MergeResult:
        fetch_head(context)
        try:
            return build_train_commits(context, options, base)
        except MergeConflict as error:
            is_first = base == context.tip
            if isinstance(error, NothingToMerge):
                reason = _MERGED.format("The target branch" if is_first else "A merge request before this one")
            else:
                reason = _CONFLICTS.format("the target branch" if is_first else "merge requests before this one")
            raise CarRemoved([self._car], reason) from None
        except TooManyCommits:
            raise CarRemoved([self._car], "The source branch has too many commits to be rebased.") from None

    def _move_train_ref(self, iid: int, commit: str) -> None:
        ref = merge_request_train_ref(iid)
        tip = self._repository.tip(ref)
        try:
            if tip is None:
                create_ref(self._repository, ref, commit)
            elif tip != commit:
                update_refs(self._repository, [RefUpdate(ref, tip, commit)])
        except RefMoved:
            raise TrainOutdated from None
