// Compares dashboards with the schema that Grafana publishes, as its Foundation SDK for Go has it.
//
//	grafana_schema FILE...
//
// Writes what departs from it: fields that the schema lacks, values of other types, and those that
// break a constraint.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	plugins.RegisterDefaultPlugins()
	bad := false
	for _, file := range os.Args[1:] {
		if err := compare(file); err != nil {
			bad = true
			fmt.Printf("%s: %v\n", file, err)
		}
	}
	if bad || len(os.Args) == 1 {
		os.Exit(1)
	}
}

func compare(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var strict, lax dashboard.Dashboard
	if err := faults(strict.UnmarshalJSONStrict(text)); err != nil {
		return err
	}
	// The strict one lacks the panels (v0.0.22), and passes over unknown fields of fieldConfig.
	if err := json.Unmarshal(text, &lax); err != nil {
		return err
	}
	if err := faults(lax.Validate()); err != nil {
		return err
	}
	var raw struct {
		Panels []struct {
			FieldConfig json.RawMessage `json:"fieldConfig"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	for number, panel := range raw.Panels {
		var config dashboard.FieldConfigSource
		if err := faults(config.UnmarshalJSONStrict(panel.FieldConfig)); err != nil {
			return fmt.Errorf("panels[%d].fieldConfig: %w", number, err)
		}
	}
	return nil
}

// The SDK gives an empty list of errors for none.
func faults(err error) error {
	var listed cog.BuildErrors
	if errors.As(err, &listed) && len(listed) == 0 {
		return nil
	}
	return err
}
