package demo

import (
	"bytes"
	_ "embed" // the files of the shop

	"github.com/fieldtrie/fieldtrie/query/budget"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
)

//go:embed budgets.yaml
var budgets []byte

//go:embed owners.yaml
var owners []byte

// Budgets returns the budgets of the shop. One of them is blown.
func Budgets() (*budget.File, error) { return budget.Parse(bytes.NewReader(budgets)) }

// Owners returns the ownership rules for the code of the shop.
func Owners() (*owner.Rules, error) { return owner.Parse(bytes.NewReader(owners)) }
