//go:build !linux

package main

// sweep has no way here to find what left the program's process group; the program
// ends its commands itself when it is asked to end.
func sweep(string) {}
