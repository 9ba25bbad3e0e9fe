"""What srv6mgrd does when: commits, repair, samples, publication."""
