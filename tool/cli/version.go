package cli

import (
	"context"
	"runtime/debug"
)

// module is the path of the module whose version is printed.
const module = "github.com/habeas-data/habeas"

// versions is the result of version.
type versions struct {
	Version string `json:"version"`
	Go      string `json:"go"`
}

func version() subcommand {
	return subcommand{
		use:   "version",
		needs: nothing,
		run: func(_ context.Context, c *call) error {
			found := versionOfBuild()
			return c.out.show(found, func() { c.out.line(found.String()) })
		},
	}
}

func (v versions) String() string { return "habeas " + v.Version + " (" + v.Go + ")" }

func versionOfBuild() versions {
	if build, ok := debug.ReadBuildInfo(); ok {
		return versionsOf(build)
	}
	return versions{Version: "(devel)", Go: "unknown"}
}

// versionsOf returns the version of the module habeas. The module is the main module of the program, or one of its
// dependencies.
func versionsOf(build *debug.BuildInfo) versions {
	found := versions{Version: "(devel)", Go: build.GoVersion}
	for _, linked := range append([]*debug.Module{&build.Main}, build.Deps...) {
		if linked.Path != module {
			continue
		}
		if linked.Replace != nil {
			linked = linked.Replace
		}
		if linked.Version != "" {
			found.Version = linked.Version
		}
	}
	return found
}
