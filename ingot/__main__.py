"""``python -m ingot`` is the same as ``ingot``."""

from ingot.cli.main import main

if __name__ == "__main__":
    main()
