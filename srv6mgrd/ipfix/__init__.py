"""Export of traffic accounting as flow records (IPFIX, RFC 7011)."""
