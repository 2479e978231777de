"""The name with which the ids of all items begin; the plugin (`assay.faces.plugin`) collects its items in its place."""
