"""`python -m assay` is `assay`."""

from assay.faces.entry import main

if __name__ == "__main__":
    main()
