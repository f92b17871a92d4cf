// Harness-mock plays a run without a model. Tests, demos and the first look at
// Clearbox use it.
//
// Without a script a run is a short play: the session starts, the agent thinks,
// says something, calls one to three tools and ends with a result that names the
// step. It takes 3 to 14 seconds at speed 1. What is played follows from the
// run's id and title alone; nothing is written or run.
//
// # Scripts
//
// A script comes from the last fenced block of the prompt whose language is mock,
// so that a step's description can hold it, else from params.script of the
// profile. Runs of another kind than step (review, plan_review, judge, planner)
// take only blocks of their own, such as ```mock review: a reviewer's prompt
// quotes the step's description, whose script is not meant for it.
//
// A script has one directive a line. Blank lines and lines that start with # are
// skipped. TEXT is the rest of the line; in double quotes it is a Go string, so
// "two\nlines" has two. @2 before a directive plays it only in the step's second
// attempt.
//
//	text TEXT              the agent says TEXT
//	thinking TEXT          the agent thinks TEXT
//	system TEXT            a system event
//	error TEXT             an error event, which does not end the run
//	log TEXT               a log event
//	stderr TEXT            a line on the process's stderr
//	tool NAME [JSON] [=> TEXT | =! TEXT]
//	                       a tool call with its input and its result; =! is a failed one
//	write PATH TEXT        writes a file inside the working directory
//	append PATH TEXT       appends to one
//	read PATH              reads one
//	run COMMAND            runs COMMAND with sh, where the run may run something
//	mcp TOOL [JSON]        calls one of Clearbox's own tools
//	sleep DURATION         waits, divided by the speed; sleep! is not divided
//	usage IN OUT           counts tokens
//	cost USD               what the result says the run cost; 0 without
//	ask TEXT               asks a person, waits, and says the answer
//	limit [WHEN]           ends as rate limited until WHEN: a duration or an RFC 3339 time
//	overload [TEXT]        ends with a fault that may go away by itself
//	fail [TEXT]            ends as failed
//	result TEXT            ends as done
//	die [CODE]             the process exits at once, with 3 or with CODE
//	kill                   the process kills itself
//	panic [TEXT]           the harness panics
//	hang                   waits for ever and ignores every stop
//	flood N                N text events
//	big BYTES              one text event of so many bytes
//	line BYTES             one line of so many bytes on stdout and on stderr
//	spawn [SECONDS]        starts a program that would outlive the run
//	orphan [SECONDS]       starts one in a session of its own, whose parent is gone
//
// A script that ends without an ending of its own ends as done. One with a fault
// is not played at all: the run fails with the line and the rule.
//
// write and append need the capability edit or full, run needs run or full, and
// both keep to the task type and the writable paths of the task. What is refused
// is a failed tool call, and the script goes on.
//
// # Before the handshake
//
// The variable CLEARBOX_MOCK_BOOT makes the process fail before it is connected:
// garbage prints something else than a handshake, bigline a line of a megabyte
// without an end, exit ends with code 1, and hang says nothing at all.
package main

import "github.com/clearbox-go/clearbox/plugin"

func main() {
	if playRole() {
		return
	}
	plugin.Serve(mock{})
}
