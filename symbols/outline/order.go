package outline

import (
	"cmp"
	"slices"
)

// fillClasses gives the members of classes the names of their classes, which may be
// known only after the class.
func (p *parser) fillClasses() {
	for _, m := range p.members {
		f, class := &p.functions[m.function], &p.functions[m.class]
		f.Class = class.Name
		switch f.Kind {
		case Fields, Statics:
			f.End = class.End
			fallthrough
		case Constructor:
			f.Name, f.Binding, f.BindStart, f.BindEnd = class.Name, class.Binding, class.BindStart, class.BindEnd
			f.Callee, f.Result = class.Callee, class.Result
		}
	}
	for i := range p.functions {
		if f := &p.functions[i]; f.Kind == Class {
			f.Class = f.Name
		}
	}
}

// order sorts the functions, drops those without a body and sets their parents. They are
// nearly in order: only functions among the parameters of an arrow function come before it.
func (p *parser) order() {
	p.functions = slices.DeleteFunc(p.functions, func(f Function) bool { return f.Kind == erased })
	slices.SortStableFunc(p.functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Kind, b.Kind))
	})
	innermost := -1
	for i := range p.functions {
		f := &p.functions[i]
		for innermost >= 0 && p.functions[innermost].End <= f.Start {
			innermost = p.functions[innermost].Parent
		}
		f.Parent = innermost
		if f.Kind.Written() {
			innermost = i
		}
	}
}
