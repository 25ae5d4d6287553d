"""Pipelines that jobs start: child pipelines and pipelines of other projects."""
