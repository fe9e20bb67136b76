package parser

import (
	"encoding/hex"
	"strings"
)

// ClausesOption is the table option (lower case, as in plan.CreateTable.TableOpts)
// in which CREATE TABLE carries the clauses that the engine's grammar lacks.
const ClausesOption = "secondary_engine_attribute"

// clausesPrefix begins the option's value.
const clausesPrefix = "ksql:"

// Clauses are the clauses of a CREATE TABLE statement that the engine does not
// read, as the client wrote them.
type Clauses struct {
	// Watermark is WATERMARK FOR column AS expression [WITH TTL], "" for none.
	Watermark string
	// Partition is PARTITION BY … with everything that belongs to it, "" for none.
	Partition string
}

// encode writes the clauses as the value of ClausesOption.
func (c Clauses) encode() string {
	return clausesPrefix + hex.EncodeToString([]byte(c.Watermark)) + ":" + hex.EncodeToString([]byte(c.Partition))
}

// DecodeClauses reads the value of ClausesOption. It is false for values that a
// client has set itself.
func DecodeClauses(option string) (Clauses, bool) {
	rest, ok := strings.CutPrefix(option, clausesPrefix)
	w, p, found := strings.Cut(rest, ":")
	if !ok || !found {
		return Clauses{}, false
	}
	watermark, err := hex.DecodeString(w)
	if err != nil {
		return Clauses{}, false
	}
	partition, err := hex.DecodeString(p)
	if err != nil {
		return Clauses{}, false
	}
	return Clauses{Watermark: string(watermark), Partition: string(partition)}, true
}
