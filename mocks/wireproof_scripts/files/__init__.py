"""Scripts in files: YAML or JSON text (`text`), its data (`json_form`), files that change (`read`), errors with places.

`definitions` derives what may be written from the classes of the steps; the JSON Schema (`schema`) and the page of the
docs (`page`) are made from it.
"""
