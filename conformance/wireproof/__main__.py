"""`python -m wireproof` is `wireproof`."""

from wireproof.cli.root import main

if __name__ == "__main__":
    main()
