package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/pflag"

	"ksql/config"
	"ksql/sqlbackend"
)

var versionCommand = command{
	name:    "version",
	summary: "show the version",
	run: func(env *environment, _ *config.Config, _ *pflag.FlagSet) error {
		_, err := fmt.Fprintf(env.stdout, "ksql %s (speaks MySQL %s; %s, %s/%s)\n",
			version, sqlbackend.ServerVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	},
}
