"""`python -m histeval` is the command `histeval`."""

from histeval.cli import main

if __name__ == "__main__":
    main()
