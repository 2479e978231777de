"""`python -m assay` is `assay`."""

from assay.faces.cli import main

if __name__ == "__main__":
    main(prog_name="assay")
