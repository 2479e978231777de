"""The calls of scripts as they are sent: in each shape (`call_shapes`), of which two are text (`blocks`)."""
