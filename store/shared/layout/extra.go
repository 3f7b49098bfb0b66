package layout

import (
	"encoding/json"
	"reflect"
	"strings"
)

// extra holds the fields of a JSON object that this release does not know. This release writes them
// back unchanged, so that a later release finds them again and nodes can be updated one by one.
type extra map[string]json.RawMessage

// decodeExtra unmarshals a JSON object into v, a pointer to a struct, and returns the fields that
// the struct lacks.
func decodeExtra(text []byte, v any) (out extra, err error) {
	if err := json.Unmarshal(text, v); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, err
	}
	for f := range reflect.TypeOf(v).Elem().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		delete(out, name)
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

// encode marshals v, a pointer to a struct, together with the fields of x.
func (x extra) encode(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil || len(x) == 0 {
		return text, err
	}
	more, err := json.Marshal(x)
	if err != nil {
		return nil, err
	}
	if len(text) > len("{}") {
		text = append(text[:len(text)-1], ',')
	} else {
		text = text[:1]
	}
	return append(text, more[1:]...), nil
}

// Types without methods, so that MarshalJSON and UnmarshalJSON do not call themselves.
type (
	manifestFields Manifest
	hourFields     Hour
	dayFields      Day
)

// UnmarshalJSON implements [json.Unmarshaler].
func (m *Manifest) UnmarshalJSON(text []byte) (err error) {
	m.extra, err = decodeExtra(text, (*manifestFields)(m))
	return err
}

// MarshalJSON implements [json.Marshaler].
func (m *Manifest) MarshalJSON() ([]byte, error) { return m.extra.encode((*manifestFields)(m)) }

// UnmarshalJSON implements [json.Unmarshaler].
func (h *Hour) UnmarshalJSON(text []byte) (err error) {
	h.extra, err = decodeExtra(text, (*hourFields)(h))
	return err
}

// MarshalJSON implements [json.Marshaler].
func (h *Hour) MarshalJSON() ([]byte, error) { return h.extra.encode((*hourFields)(h)) }

// UnmarshalJSON implements [json.Unmarshaler].
func (d *Day) UnmarshalJSON(text []byte) (err error) {
	d.extra, err = decodeExtra(text, (*dayFields)(d))
	return err
}

// MarshalJSON implements [json.Marshaler].
func (d *Day) MarshalJSON() ([]byte, error) { return d.extra.encode((*dayFields)(d)) }
