// Command harness-openai runs agent sessions on any OpenAI-compatible chat-completions
// endpoint. The agent loop is here: it asks the model, runs the tools that the model
// calls and feeds the results back, until there is an answer without calls.
//
// The endpoint is spoken to over net/http rather than with the official client. Built
// cold that client takes about 105 s and 150 CPU seconds on two cores (35 s for
// everything else of this program without it), and a linked program grows from 9 to
// 31 MB, for one request of its hundreds. What it would give here is little: its
// stream decoder takes a chunk with "error": null for a fault, yields an empty answer
// when the body is no event stream, and its typed chunks refuse the indexes, ids and
// argument objects that compatible servers really send (see wire.go and calls.go).
// Retries with Retry-After, which it does well, are in retry.go.
package main

import "github.com/clearbox-go/clearbox/plugin"

func main() { plugin.Serve(newHarness()) }
