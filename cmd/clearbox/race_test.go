//go:build race

package main

// raceEnabled makes the programs that tests start be built as the tests are.
const raceEnabled = true
