"""Each kind of object that srv6mgrd puts into the kernel or into FRR, in a package of its own:
``object.py`` says what it is, ``kernel.py`` writes it and reads it back (``registry``)."""
