"""`python -m wireproof` is `wireproof`."""

from wireproof.cli.entry import main

if __name__ == "__main__":
    main()
