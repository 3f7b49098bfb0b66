//go:build goexperiment.jsonv2

package jsondecoders

import (
	jsonv2 "encoding/json/v2"
	"io"
)

func init() {
	decoders = append(decoders, decoder{"encoding/json/v2", func(r io.Reader) (found, error) {
		var p profile
		err := jsonv2.UnmarshalRead(r, &p)
		return p.found(), err
	}, func(r io.Reader) (found, error) {
		var t trace
		err := jsonv2.UnmarshalRead(r, &t)
		return t.found(), err
	}})
}
