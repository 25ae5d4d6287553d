"""Lists of runners; none can register yet, so they are empty."""
