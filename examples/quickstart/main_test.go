package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestQuickstart runs the README's first command and looks for what it tells.
func TestQuickstart(t *testing.T) {
	out, err := exec.Command("go", "run", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := string(out)
	before, after, ok := strings.Cut(text, "closed the folder and opened it again:\n")
	if !ok || !strings.Contains(text, "Error 1062 (23000)") {
		t.Fatalf("unexpected output:\n%s", text)
	}
	const stock = "tea      15 pieces, worth   52.50, 1 sold"
	if !strings.Contains(before, stock) || !strings.HasSuffix(strings.TrimSpace(before), strings.TrimSpace(after)) {
		t.Fatalf("the restart changed what is there:\n%s", text)
	}
}
