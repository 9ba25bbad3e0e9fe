"""What users can't have, since srv6mgr has it."""

# Table of our own SIDs; a VRF must not use it. Mnemonic: RFC 8986.
SID_TABLE = 8986
# Device of our own that the SIDs hang on.
SID_DEVICE = "srv6mgr"
