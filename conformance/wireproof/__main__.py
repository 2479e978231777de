"""`python -m wireproof` is `wireproof`."""

from wireproof.faces.entry import main

if __name__ == "__main__":
    main()
