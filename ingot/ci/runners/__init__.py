"""Lists of runners; empty, since runners cannot register yet."""
