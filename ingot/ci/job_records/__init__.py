"""Rows of jobs, which pipelines and runners share."""
