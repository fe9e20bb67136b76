package config

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Show writes every key with its effective value and where it came from. Secrets are
// not shown.
func (c *Config) Show(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "KEY\tVALUE\tORIGIN") // errors of a tabwriter come from Flush
	for _, k := range Keys {
		v := c.values[k.Name]
		text := v.Text
		switch {
		case k.Secret && text != "":
			text = "********"
		case k.Name == "socket" && text == "":
			text = c.Socket
		case text == "" && k.Unset != "":
			text = "(" + k.Unset + ")"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", k.Name, text, v.Origin)
	}
	return tw.Flush()
}

// Markdown writes the table of keys for the README.
func Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| key | kind | default | meaning |\n|---|---|---|---|\n")
	for _, k := range Keys {
		kind := string(k.Kind)
		if k.Kind == KindChoice {
			kind = strings.Join(k.Choices, ", ")
		}
		value := "`" + k.Default + "`"
		if k.Default == "" {
			value = k.Unset
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Name, kind, value, k.Meaning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
