// Command harness-claude runs agent sessions with the Claude Code program (npm package
// @anthropic-ai/claude-code), without a terminal: it starts `claude -p` with streams of
// JSON lines both ways, tells what comes as events, and answers what the program asks.
//
// # What the program may do
//
// Tools are offered and pre-approved by capability. Below full whatever else the model
// reaches for is denied, or put before a person when the profile says ask. File tools
// are judged here, in Go, by a hook that the program asks before each call (guard.go):
// so limits on paths hold with links resolved, and a hook that does not answer leaves a
// call denied.
//
// # How it gets to a model
//
// A key of the profile stays in this process: the program talks to a proxy on loopback,
// with a token that is worth nothing elsewhere and dies with the run (proxy.go). Without
// a key the program uses the login in its configuration directory, whatever the
// profile's config_dir says, and no settings, hooks or MCP servers of the user or the
// project are read unless the profile says so.
package main

import "github.com/clearbox-go/clearbox/plugin"

func main() { plugin.Serve(newHarness()) }
