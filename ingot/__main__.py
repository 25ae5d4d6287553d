"""Entry point of ``python -m ingot``, equivalent to the ``ingot`` command."""

from ingot.cli.main import main

if __name__ == "__main__":
    main()
