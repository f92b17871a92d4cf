// Command harness-acp runs agent sessions with any program that speaks the Agent
// Client Protocol (ACP): JSON-RPC over its standard input and output. Files and
// terminals that the agent asks for come from here, within the capability of the run;
// what its own tools do it has to ask about first (see guard.go).
package main

import "github.com/clearbox-go/clearbox/plugin"

func main() { plugin.Serve(newHarness()) }
