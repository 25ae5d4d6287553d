"""What people say about issues, merge requests, snippets and commits: notes, emoji, and who follows them.

A page asks ``thread_of(ground_in(place, KIND, number))`` and shows it with the macros of discussions/_thread.html: all
of it (``thread``), some discussions (``discussions``), the form alone (``comment``), ``awards`` and ``follow``. The
forms lead to addresses below the page's own, which this room declares for every kind.
"""
