package main

import (
	"github.com/spf13/pflag"

	"ksql/config"
)

var configCommand = command{
	name:    "config",
	summary: "show the settings in force and where each comes from",
	flags: func(fs *pflag.FlagSet) {
		fs.Bool("markdown", false, "write the table of all settings as it stands in the README")
	},
	run: func(env *environment, cfg *config.Config, fs *pflag.FlagSet) error {
		if markdown, err := fs.GetBool("markdown"); err != nil || markdown {
			return config.Markdown(env.stdout)
		}
		return cfg.Show(env.stdout)
	},
}
