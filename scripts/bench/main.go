// Command bench measures ksql and prints one table a benchmark: name, ours, baseline,
// ratio, target, ok. It exits 1 if a target is missed. scripts/bench.sh runs it.
package main

import (
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
)

// row is one line of a benchmark's table.
type row struct {
	name, ours, baseline, ratio, target string
	ok, judged                          bool
}

func main() {
	run, known := map[string]func() ([]row, error){"start": benchStart, "commit": benchCommit}[os.Args[len(os.Args)-1]]
	if !known {
		fmt.Fprintln(os.Stderr, "usage: bench start|commit")
		os.Exit(2)
	}
	rows, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	if !show(rows) {
		os.Exit(1)
	}
}

func show(rows []row) bool {
	good := true
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\tours\tbaseline\tratio\ttarget\tok")
	for _, r := range rows {
		verdict := "reported"
		if r.judged {
			verdict = map[bool]string{true: "yes", false: "NO"}[r.ok]
			good = good && r.ok
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.name, r.ours, r.baseline, r.ratio, r.target, verdict)
	}
	if err := w.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return false
	}
	return good
}

// median of a copy; the slice must not be empty.
func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}
