"""SONiC's Redis tables: what this router does, in the shape that SONiC's tools read."""
