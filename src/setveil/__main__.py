"""`python -m setveil` is the command line."""

from setveil.cli import main

if __name__ == "__main__":
    main()
