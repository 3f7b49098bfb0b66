package naming

import (
	"encoding/hex"
	"fmt"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// Memory is an immutable Library of tables in memory.
type Memory struct {
	upload symbols.Upload
	tables map[string]*symbols.Table
}

// NewMemory returns a Library with one build: tables by the path of their script.
func NewMemory(release string, tables map[string]*symbols.Table) *Memory {
	m := &Memory{upload: symbols.Upload{Release: release}, tables: map[string]*symbols.Table{}}
	for path, t := range tables {
		key := hex.EncodeToString(t.Script[:])
		m.upload.Scripts = append(m.upload.Scripts, symbols.Script{Path: path, DebugID: t.DebugID, SHA256: key})
		m.tables[key] = t
	}
	return m
}

// Uploads implements [Library].
func (m *Memory) Uploads() []symbols.Upload { return []symbols.Upload{m.upload} }

// Generation implements [Library].
func (m *Memory) Generation() string { return "memory" }

// Table implements [Library].
func (m *Memory) Table(sha256 string) (*symbols.Table, error) {
	t := m.tables[sha256]
	if t == nil {
		return nil, fmt.Errorf("no table for script %s", sha256)
	}
	return t, nil
}
