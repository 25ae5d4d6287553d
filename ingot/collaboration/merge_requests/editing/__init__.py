"""What becomes of open merge requests: edited, closed, reopened, followed, timed, and taken away."""
