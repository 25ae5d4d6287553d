"""Benchmarks (``make bench``): speed as ratios, measured in one run."""
