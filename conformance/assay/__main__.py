"""`python -m assay` is `assay`."""

from assay.cli import main

if __name__ == "__main__":
    main(prog_name="assay")
