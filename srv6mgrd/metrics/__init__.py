"""srv6-metricsd: OpenMetrics over HTTP, from the store and the files beside it."""
