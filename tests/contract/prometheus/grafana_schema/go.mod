module srv6mgr/tests/grafana_schema

go 1.25.0

require github.com/grafana/grafana-foundation-sdk/go v0.0.22
