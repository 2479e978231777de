"""The language of scripts: steps, files, markers, the player, and the library of scripts of the suite."""
