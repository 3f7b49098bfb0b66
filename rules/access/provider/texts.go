package provider

import (
	"encoding/json"
	"errors"
)

// jsonText is a claim that is not read yet.
type jsonText = json.RawMessage

// texts reads a claim that is one text, or a list of them. One that is not there is an empty list.
func texts(claim []byte) (list []string, err error) {
	if len(claim) == 0 || string(claim) == "null" {
		return nil, nil
	}
	if claim[0] == '"' {
		list = []string{""}
		err = json.Unmarshal(claim, &list[0])
	} else {
		err = json.Unmarshal(claim, &list)
	}
	if err != nil {
		return nil, err
	}
	if len(list) > maxGroups {
		return nil, errors.New("too many")
	}
	for _, text := range list {
		if len(text) > maxText {
			return nil, errors.New("too long")
		}
	}
	return list, nil
}
