"""gNMI by dial-out: srv6-gnmid registers with tunnel servers, and serves what comes through."""
