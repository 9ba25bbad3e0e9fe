"""Parts of the configuration, named by YANG paths or by words."""
