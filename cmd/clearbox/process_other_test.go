//go:build !linux

package main

// process cannot be listed here. What tests say about processes is tested on
// Linux.
type process struct{}

func (process) kill() {}

func processesIn(string) []process { return nil }
