package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary plays several parts, chosen by the environment; those of the program
// also by its first argument, since what the harness starts inherits the environment.
// Recordings are played by testdata/player.sh, which starts faster.
const (
	asHarness  = "TEST_AS_HARNESS"  // it is the harness
	asTrick    = "TEST_TRICK"       // it is the program, and does this
	asRecorder = "TEST_AS_RECORDER" // it runs the real program, named here, and records
	recordTo   = "TEST_RECORD_TO"   // the file that is recorded

	self          = "TEST_SELF"           // where the player finds this binary
	fromStreams   = "TEST_STREAMS"        // the folder of the recordings
	heardIn       = "TEST_HEARD_IN"       // the file in which the player notes what it is told
	playedVersion = "TEST_PLAYED_VERSION" // what the player says to --version
	playedLogin   = "TEST_PLAYED_LOGIN"   // and to auth status
	deaf          = "TEST_DEAF"           // the player reads nothing
)

func TestMain(m *testing.M) {
	program := len(os.Args) > 1 && (os.Args[1] == "-p" || os.Args[1] == "--version")
	switch {
	case program && os.Getenv(asTrick) != "":
		os.Exit(doTrick(os.Getenv(asTrick)))
	case program && os.Getenv(asRecorder) != "":
		os.Exit(recordProgram())
	case os.Getenv(asHarness) != "":
		main()
		return
	}
	time.Local = time.UTC // texts with a time of day are compared
	os.Exit(m.Run())
}

// player returns the program that plays recordings, and the environment that it needs.
func player(t *testing.T) (program string, env []string) {
	t.Helper()
	folder, err := filepath.Abs("testdata")
	must(t, err)
	return filepath.Join(folder, "player.sh"), []string{self + "=" + os.Args[0], fromStreams + "=" + filepath.Join(folder, "streams")}
}

// usePlayer sets the player's environment for the time of the test.
func usePlayer(t *testing.T) string {
	t.Helper()
	program, env := player(t)
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		t.Setenv(name, value)
	}
	return program
}

func doTrick(name string) int {
	f, ok := tricks[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "no recording and no trick is named", name)
		return 2
	}
	return f()
}

const initText = `{"type":"system","subtype":"init","cwd":"/w","session_id":"5e551011-0000-4000-8000-000000000000","tools":[],"mcp_servers":[],"model":"claude-played","permissionMode":"dontAsk"}`

func resultText(text string) string {
	return `{"type":"result","subtype":"success","is_error":false,"num_turns":1,"duration_ms":7,"result":"` + text + `","total_cost_usd":0.5,"modelUsage":{}}`
}

// tricks are what no recording shows: programs that behave badly.
var tricks = map[string]func() int{
	"deaf": func() int {
		fmt.Println(initText)
		fmt.Println(resultText("heard nothing"))
		return 0
	},
	"long": func() int {
		fmt.Println(initText)
		time.Sleep(5 * time.Minute)
		return 0
	},
	"stays": func() int { // it does not leave, and takes no hint
		fmt.Println(initText)
		fmt.Println(resultText("done"))
		ignored := make(chan os.Signal, 1)
		signal.Notify(ignored, syscall.SIGTERM)
		time.Sleep(5 * time.Minute)
		return 0
	},
	"big": func() int {
		fmt.Println(initText)
		fmt.Printf(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"yes"}}]}}` + "\n")
		fmt.Printf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"%s"}]}}`+"\n", strings.Repeat("y", 2<<20))
		pour := exec.Command("sh", "-c", "head -c 104857600 /dev/zero | tr '\\0' x; head -c 4194304 /dev/zero | tr '\\0' e >&2") // by what prints it fast
		pour.Stdout, pour.Stderr = os.Stdout, os.Stderr
		if err := pour.Run(); err != nil {
			return 2
		}
		fmt.Println()
		fmt.Fprintln(os.Stderr, " the end of stderr")
		fmt.Println(resultText("swallowed"))
		return 0
	},
	"killed": func() int {
		fmt.Println(initText)
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	},
	"exits": func() int {
		fmt.Fprintln(os.Stderr, "error: unknown option '--tools'")
		return 1
	},
	"orphan": func() int { // a child in a session of its own, which holds no pipe
		fmt.Println(initText)
		cmd := exec.Command("sleep", "300")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			return 2
		}
		fmt.Println(resultText(fmt.Sprint(cmd.Process.Pid)))
		return 0
	},
	"garbage": func() int {
		fmt.Println("Welcome!")
		fmt.Println(initText)
		fmt.Println(`{"type":"assistant","message":5}`)
		fmt.Println(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"nobody","content":"x"}]}}`)
		fmt.Println(`{"type":"of tomorrow"}`)
		fmt.Println(`{"type":"control_request","request_id":"r1","request":{"subtype":"of_tomorrow"}}`)
		fmt.Println("[1,2]")
		fmt.Println(resultText("still here \\u0000 \\ud800"))
		return 0
	},
	"tattles": func() int { // a secret where the text will be cut
		fmt.Println(initText)
		fmt.Println(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"env"}}]}}`)
		fmt.Printf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"%s%s"}]}}`+"\n", strings.Repeat("x", 6000-10), apiKey)
		fmt.Println(resultText("told " + apiKey))
		return 0
	},
	"twice": func() int { // work in the background wakes the model once more
		fmt.Println(initText)
		fmt.Println(`{"type":"assistant","parent_tool_use_id":"t1","error":"server_error","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error: below"}]}}`)
		for _, text := range []string{"first", "second"} {
			fmt.Println(`{"type":"result","subtype":"success","result":"` + text + `","total_cost_usd":9,"modelUsage":{},"model_usage_since_last_result":{"claude-x":{"inputTokens":7,"outputTokens":3,"costUSD":0.25}}}`)
		}
		return 0
	},
	"settled": func() int { // the result without its line break, then the end
		fmt.Println(initText)
		fmt.Print(resultText("settled"))
		return 0
	},
}

// recordProgram runs the real program and keeps what it prints, without what only makes
// the recording long.
func recordProgram() int {
	cmd := exec.Command(os.Getenv(asRecorder), os.Args[1:]...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	if os.Args[1] != "-p" {
		cmd.Stdout = os.Stdout
		_ = cmd.Run()
		return max(cmd.ProcessState.ExitCode(), 0)
	}
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return 2
	}
	file, err := os.OpenFile(os.Getenv(recordTo), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return 2
	}
	dir, _ := os.Getwd()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		fmt.Println(lines.Text())
		if kept := shortened(lines.Bytes()); kept != "" {
			kept = strings.ReplaceAll(kept, os.Getenv("CLAUDE_CONFIG_DIR"), "/config")
			fmt.Fprintln(file, strings.ReplaceAll(kept, dir, "@WORK@"))
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		fmt.Fprintf(file, "exit %d\n", code)
	}
	file.Close()
	return max(cmd.ProcessState.ExitCode(), 0)
}

// shortened drops what nobody reads from a line of the program.
func shortened(line []byte) string {
	var l map[string]any
	if json.Unmarshal(line, &l) != nil {
		return string(line)
	}
	switch {
	case l["type"] == "control_response":
		return ""
	case l["subtype"] == "init":
		keep := []string{"type", "subtype", "cwd", "session_id", "tools", "mcp_servers", "model", "permissionMode", "apiKeySource", "claude_code_version"}
		maps.DeleteFunc(l, func(k string, _ any) bool { return !slices.Contains(keep, k) })
	case l["subtype"] == "thinking_tokens", l["subtype"] == "status", bytes.Contains(line, []byte(`"type":"content_block_`)), bytes.Contains(line, []byte(`"type":"ping"`)):
		return ""
	}
	for _, k := range []string{"uuid", "timestamp", "subagent_stats", "tool_use_result", "tool_result_meta", "fast_mode_state", "fast_mode_disabled_reason"} {
		delete(l, k)
	}
	out, err := json.Marshal(l)
	if err != nil {
		return string(line)
	}
	return string(out)
}
