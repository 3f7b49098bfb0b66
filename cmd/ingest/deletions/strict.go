package deletions

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// fields are the keys of a [request].
var fields = []string{"page", "site", "views", "labels", "since", "until", "dry_run"}

// strict rejects ambiguous JSON. Package json accepts keys in any case, the last of two equal keys,
// and an empty value like a missing one; each could delete more than intended. The keys of an
// object must be in known, unless known is nil.
func strict(d *json.Decoder, known []string) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch token {
	case nil, "":
		return errors.New("a value is empty")
	case json.Delim('{'), json.Delim('['):
	default:
		return nil
	}
	if !d.More() {
		return errors.New("a value is empty")
	}
	for seen := map[string]bool{}; d.More(); {
		if token == json.Delim('{') {
			key, err := d.Token()
			if err != nil {
				return err
			}
			name, _ := key.(string)
			switch {
			case known != nil && !slices.Contains(known, name):
				return fmt.Errorf("unknown field %.40q", name)
			case seen[name]:
				return fmt.Errorf("field %.40q occurs twice", name)
			}
			seen[name] = true
		}
		if err := strict(d, nil); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}
