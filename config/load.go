package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// configFlag names the flag, and KSQL_CONFIG the variable, of the configuration file.
const configFlag = "config"

// AddFlags gives a flag set one flag a key (memory_limit → --memory-limit) and --config.
func AddFlags(fs *pflag.FlagSet) {
	fs.String(configFlag, "", "configuration file (yaml, toml or json)")
	for _, k := range Keys {
		usage := k.Meaning
		if k.Kind == KindChoice {
			usage += " (" + strings.Join(k.Choices, ", ") + ")"
		}
		if k.Default == "" && k.Unset != "" {
			usage += "; default: " + k.Unset
		}
		fs.StringP(flagName(k.Name), k.Short, k.Default, usage)
		if k.Kind == KindBool {
			fs.Lookup(flagName(k.Name)).NoOptDefVal = "true"
		}
	}
}

func flagName(key string) string { return strings.ReplaceAll(key, "_", "-") }

// Load puts the configuration together: defaults < file < environment < flags. fs has
// been parsed (nil: no flags); environ has the form of os.Environ. The file is named
// by --config or KSQL_CONFIG; without either there is none.
func Load(fs *pflag.FlagSet, environ []string) (*Config, error) {
	values := defaults()
	env, err := environment(environ)
	if err != nil {
		return nil, err
	}
	file := env["KSQL_CONFIG"]
	if fs != nil && fs.Changed(configFlag) {
		file = fs.Lookup(configFlag).Value.String()
	}
	if file != "" {
		if err := readFile(values, file); err != nil {
			return nil, err
		}
	}
	for _, k := range Keys {
		name := envName(k.Name)
		if text, ok := env[name]; ok {
			values[k.Name] = Value{Text: text, Origin: "environment " + name}
		}
		if fs != nil && fs.Changed(flagName(k.Name)) {
			values[k.Name] = Value{Text: fs.Lookup(flagName(k.Name)).Value.String(), Origin: "flag --" + flagName(k.Name)}
		}
	}
	return build(values)
}

func envName(key string) string { return "KSQL_" + strings.ToUpper(key) }

// environment takes the KSQL_* variables out of environ and refuses unknown ones.
func environment(environ []string) (map[string]string, error) {
	env := map[string]string{}
	for _, pair := range environ {
		name, text, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "KSQL_") {
			continue
		}
		key := strings.ToLower(strings.TrimPrefix(name, "KSQL_"))
		if _, ok := keyNamed(key); (!ok || name != envName(key)) && !reserved[name] {
			return nil, fmt.Errorf("unknown variable %s in the environment; did you mean %s?", name, envName(nearest(key)))
		}
		env[name] = text
	}
	return env, nil
}

// readFile puts the values of a file into values. Relative paths in it are relative to
// its folder, wherever the program was started.
func readFile(values map[string]Value, name string) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("configuration file %s does not exist", name)
	case err != nil:
		return fmt.Errorf("configuration file: %w", err)
	case info.IsDir():
		return fmt.Errorf("configuration file %s is a folder", name)
	}
	ext := strings.TrimPrefix(filepath.Ext(name), ".")
	if !slices.Contains([]string{"yaml", "yml", "toml", "json"}, ext) {
		return fmt.Errorf("configuration file %s: the name must end in .yaml, .toml or .json", name)
	}
	v := viper.New()
	v.SetConfigFile(name)
	if err := v.ReadInConfig(); err != nil {
		return fmt.Errorf("configuration file %s: %w", name, err)
	}
	keys := v.AllKeys()
	slices.Sort(keys) // the same fault every time
	for _, key := range keys {
		k, ok := keyNamed(key)
		if !ok {
			return fmt.Errorf("configuration file %s: unknown key %s; did you mean %s?", name, key, nearest(key))
		}
		text := v.GetString(key)
		if raw := v.Get(key); raw != nil && text == "" && raw != "" {
			return fmt.Errorf("configuration file %s: %s must be one value, not a list or a group", name, key)
		}
		if k.Kind == KindPath && text != "" && !filepath.IsAbs(text) {
			text = filepath.Join(filepath.Dir(name), text)
		}
		values[key] = Value{Text: text, Origin: "file " + name}
	}
	return nil
}

// nearest is the key with the smallest edit distance to name.
func nearest(name string) string {
	best, least := "", 1<<30
	for _, k := range Keys {
		if d := distance(name, k.Name); d < least {
			best, least = k.Name, d
		}
	}
	return best
}

// distance counts the letters to insert, delete or replace (Wagner and Fischer).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
