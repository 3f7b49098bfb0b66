package layout

import (
	"encoding/json"
	"reflect"
	"strings"
)

// extra are fields of an object of JSON that this release does not know: a later one has written them, and finds them again although this
// one writes the object, so that nodes may be updated one by one.
type extra map[string]json.RawMessage

// decodeExtra reads an object into v, a struct, and returns the fields that it has no place for.
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

// encode writes v, a struct, with the fields of x.
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

// Types without the methods, or they would call themselves.
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
