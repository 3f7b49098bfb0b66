package jsondecoders

import (
	"errors"
	"io"

	"github.com/minio/simdjson-go"
)

func init() {
	if !simdjson.SupportedCPU() {
		return
	}
	decoders = append(decoders, decoder{"simdjson-go", func(r io.Reader) (found, error) {
		var p profile
		err := simdRoot(r, func(o *simdjson.Object) error { return simdProfile(o, &p) })
		return p.found(), err
	}, func(r io.Reader) (found, error) {
		var t trace
		err := simdRoot(r, func(o *simdjson.Object) error { return simdTrace(o, &t) })
		return t.found(), err
	}})
}

func simdRoot(r io.Reader, read func(*simdjson.Object) error) error {
	text, err := readAll(r)
	if err != nil {
		return err
	}
	parsed, err := simdjson.Parse(text, nil, simdjson.WithCopyStrings(false))
	if err != nil {
		return err
	}
	i := parsed.Iter()
	i.Advance()
	_, root, err := i.Root(nil)
	if err != nil {
		return err
	}
	o, err := root.Object(nil)
	if err != nil {
		return err
	}
	return read(o)
}

// simdMembers calls member with each key and value of o.
func simdMembers(o *simdjson.Object, member func(key []byte, v *simdjson.Iter) error) error {
	var v simdjson.Iter
	for {
		key, kind, err := o.NextElementBytes(&v)
		if err != nil {
			return err
		}
		if kind == simdjson.TypeNone {
			return nil
		}
		if err := member(key, &v); err != nil {
			return err
		}
	}
}

// simdObject calls member for the object at v; what is none is passed over.
func simdObject(v *simdjson.Iter, member func(key []byte, v *simdjson.Iter) error) error {
	if v.Type() != simdjson.TypeObject {
		return nil
	}
	o, err := v.Object(nil)
	if err != nil {
		return err
	}
	return simdMembers(o, member)
}

func simdElements(v *simdjson.Iter, element func(v *simdjson.Iter) error) error {
	if v.Type() != simdjson.TypeArray {
		return nil
	}
	a, err := v.Array(nil)
	if err != nil {
		return err
	}
	var failed error
	a.ForEach(func(i simdjson.Iter) { failed = errors.Join(failed, element(&i)) })
	return failed
}

func simdIntegers(v *simdjson.Iter, list *[]int64) error {
	if v.Type() != simdjson.TypeArray {
		return nil
	}
	a, err := v.Array(nil)
	if err == nil {
		*list, err = a.AsInteger()
	}
	return err
}

func simdProfile(o *simdjson.Object, p *profile) error {
	return simdMembers(o, func(key []byte, v *simdjson.Iter) error { return simdProfileMember(key, v, p) })
}

func simdProfileMember(key []byte, v *simdjson.Iter, p *profile) error {
	switch string(key) {
	case "nodes":
		return simdElements(v, func(v *simdjson.Iter) error {
			var n node
			err := simdObject(v, func(key []byte, v *simdjson.Iter) error { return simdNodeMember(key, v, &n) })
			p.Nodes = append(p.Nodes, n)
			return err
		})
	case "samples":
		return simdIntegers(v, &p.Samples)
	case "timeDeltas":
		return simdIntegers(v, &p.TimeDeltas)
	}
	return nil
}

func simdNodeMember(key []byte, v *simdjson.Iter, n *node) (err error) {
	switch string(key) {
	case "id":
		n.ID, err = v.Int()
	case "parent":
		n.Parent, err = v.Int()
	case "children":
		err = simdIntegers(v, &n.Children)
	case "callFrame":
		err = simdObject(v, func(key []byte, v *simdjson.Iter) (err error) {
			switch f := &n.CallFrame; string(key) {
			case "functionName":
				f.FunctionName, err = v.String()
			case "url":
				f.URL, err = v.String()
			case "lineNumber":
				f.LineNumber, err = v.Int()
			case "columnNumber":
				f.ColumnNumber, err = v.Int()
			}
			return err
		})
	}
	return err
}

func simdTrace(o *simdjson.Object, t *trace) error {
	return simdMembers(o, func(key []byte, v *simdjson.Iter) error {
		if string(key) != "traceEvents" {
			return nil
		}
		return simdElements(v, func(v *simdjson.Iter) error {
			var e event
			err := simdObject(v, func(key []byte, v *simdjson.Iter) error { return simdEventMember(key, v, &e) })
			t.TraceEvents = append(t.TraceEvents, e)
			return err
		})
	})
}

func simdEventMember(key []byte, v *simdjson.Iter, e *event) (err error) {
	switch string(key) {
	case "name":
		e.Name, err = v.String()
	case "ph":
		e.Ph, err = v.String()
	case "cat":
		e.Cat, err = v.String()
	case "ts":
		e.Ts, err = v.Float()
	case "dur":
		e.Dur, err = v.Float()
	case "pid":
		e.Pid, err = v.Int()
	case "tid":
		e.Tid, err = v.Int()
	case "args":
		err = simdObject(v, func(key []byte, v *simdjson.Iter) error {
			if string(key) != "data" {
				return nil
			}
			return simdObject(v, func(key []byte, v *simdjson.Iter) (err error) {
				switch d := &e.Args.Data; string(key) {
				case "cpuProfile":
					err = simdObject(v, func(key []byte, v *simdjson.Iter) error { return simdProfileMember(key, v, &d.CPUProfile) })
				case "timeDeltas":
					err = simdIntegers(v, &d.TimeDeltas)
				case "sampleTraceId":
					d.SampleTraceID, err = v.Int()
				}
				return err
			})
		})
	}
	return err
}
