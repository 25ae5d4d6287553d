"""Discussions of issues, merge requests, snippets and commits: notes, award emoji and subscriptions.

A page calls ``discussion_thread(discussable_in(parent, KIND, number))`` and renders it with the macros of
discussions/_thread.html: the whole thread (``thread``), single discussions (``discussions``), the comment form
(``comment``), ``awards`` and ``subscription_buttons``. The forms post to paths below the page itself, declared here for
every kind.
"""
