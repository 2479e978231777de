"""The ids of all items begin with this module's name; the plugin (`wireproof.faces.plugin`) collects its items here."""
