"""``srv6ctl ping`` and ``trace``: OAM of SRv6 (RFC 9259) with packets of our own."""
