package harness

import (
	"slices"
	"strings"
)

// passed are the variables that a harness gets of the server's environment;
// those that end in '*' are beginnings of names.
func passed() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TZ", "XDG_*", "SSH_AUTH_SOCK",
		// Toolchains: where their caches and homes are.
		"GOPATH", "GOCACHE", "GOMODCACHE",
		"CARGO_HOME", "RUSTUP_HOME",
		"NPM_CONFIG_*", "npm_config_*", "YARN_CACHE_FOLDER", "PNPM_HOME", "DENO_DIR", "BUN_INSTALL_CACHE_DIR",
		"PIP_CACHE_DIR", "UV_CACHE_DIR", "POETRY_CACHE_DIR",
		"GRADLE_USER_HOME", "NUGET_PACKAGES", "CCACHE_DIR", "SCCACHE_DIR",
		// Proxies, in both spellings that programs look for.
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
		"http_proxy", "https_proxy", "all_proxy", "no_proxy",
	}
}

// environment is what a harness gets: the explicit short list, what pass names,
// and TMPDIR.
func environment(own, pass []string, tmp string) []string {
	var env []string
	for _, entry := range own {
		name, _, ok := strings.Cut(entry, "=")
		switch {
		case !ok || name == "TMPDIR":
		case slices.Contains(pass, name), listed(name) && !secretive(name):
			env = append(env, entry)
		}
	}
	return append(env, "TMPDIR="+tmp)
}

func listed(name string) bool {
	return slices.ContainsFunc(passed(), func(p string) bool {
		prefix, many := strings.CutSuffix(p, "*")
		return p == name || many && strings.HasPrefix(name, prefix)
	})
}

// secretive says that a name sounds as if its value were nobody's business.
func secretive(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"key", "token", "secret", "password"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}
