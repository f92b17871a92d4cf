package store

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// The test binary, started again with the first variable, is another server: it
// opens the database named there, writes a plan, says so and stays; with the
// second one it goes on writing, and tells what was acknowledged.
const (
	holderEnv = "CLEARBOX_TEST_HOLD"
	writerEnv = "CLEARBOX_TEST_WRITE"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(holderEnv); path != "" {
		os.Exit(hold(path))
	}
	os.Exit(m.Run())
}

func hold(path string) int {
	s, err := Open(context.Background(), Options{Path: path})
	if err == nil {
		err = s.Write(context.Background(), func(tx *Tx) error { _, err := newPlan(tx, 1); return err })
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("holding")
	if os.Getenv(writerEnv) != "" {
		writeOn(s)
	}
	bufio.NewReader(os.Stdin).ReadString('\n')
	return 0 // without Close: like a crash, but with an exit code
}

// writeOn writes from four goroutines until the process is killed.
func writeOn(s *Store) {
	for g := range 4 {
		go func() {
			for i := 0; ; i++ {
				title := fmt.Sprintf("%d/%d", g, i)
				if s.Write(context.Background(), func(tx *Tx) error { return writeTitled(tx, title, 2) }) == nil {
					fmt.Println(title)
				}
			}
		}()
	}
}

// startHolder starts another process that has a database open.
func startHolder(t *testing.T, path string, env ...string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(append(os.Environ(), holderEnv+"="+path), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // it stays until this is closed, or until it is killed
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil || line != "holding\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	return cmd, lines
}

func TestSecondOpenIsRefusedAndNamesTheFirst(t *testing.T) {
	since := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	s := open(t, Options{Now: func() time.Time { return since }})
	for range 2 {
		_, err := Open(t.Context(), Options{Path: s.opts.Path})
		if plan.KindOf(err) != plan.Unavailable {
			t.Fatalf("the second open: %v; want it refused as unavailable", err)
		}
		for _, part := range []string{strconv.Itoa(os.Getpid()), "2031-05-06 07:08:09", "stop that one", "--db"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("it is refused with %q, which does not say %q", err, part)
			}
		}
	}
	makePlan(t, reopen(t, s), 1) // free again after Close
}

func TestLockOfAnUnreadableHolder(t *testing.T) {
	s := open(t, Options{})
	if err := os.WriteFile(s.opts.Path+".lock", []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{Path: s.opts.Path})
	if plan.KindOf(err) != plan.Unavailable || !strings.Contains(err.Error(), s.opts.Path+".lock") {
		t.Errorf("open: %v; want it refused with the name of the lock file", err)
	}
}

func TestLockEndsWithItsProcessHoweverThatEnds(t *testing.T) {
	path := t.TempDir() + "/clearbox.sqlite"
	cmd, _ := startHolder(t, path)
	_, err := Open(t.Context(), Options{Path: path})
	if plan.KindOf(err) != plan.Unavailable || !strings.Contains(err.Error(), strconv.Itoa(cmd.Process.Pid)) {
		t.Errorf("while the other process lives: %v; want it refused with pid %d", err, cmd.Process.Pid)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	s := open(t, Options{Path: path})
	if n := one[int](t, s, "SELECT COUNT(*) FROM nodes"); n != 1 {
		t.Errorf("%d nodes after the kill, want the acknowledged one", n)
	}
	b, err := os.ReadFile(path + ".lock")
	if err != nil || !strings.Contains(string(b), fmt.Sprintf(`"pid":%d`, os.Getpid())) {
		t.Errorf("the lock file holds %s, %v; want this process", b, err)
	}
}

func TestNothingAcknowledgedIsLostWhenTheProcessIsKilled(t *testing.T) {
	path := t.TempDir() + "/clearbox.sqlite"
	cmd, lines := startHolder(t, path, writerEnv+"=1")
	acknowledged := map[string]bool{}
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // killed, and all it told is read
		}
		if acknowledged[strings.TrimSpace(line)] = true; len(acknowledged) == 100 {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd.Wait()
	s := open(t, Options{Path: path})
	var titles []string
	read(t, s, func(tx *Tx) error { return tx.list("list", &titles, "SELECT title FROM plans") })
	for _, title := range titles {
		delete(acknowledged, title)
	}
	if len(acknowledged) > 0 {
		t.Errorf("%d acknowledged plans are lost: %v", len(acknowledged), acknowledged)
	}
	halves := one[int](t, s, `SELECT COUNT(*) FROM plans p WHERE title <> 'plan'
		AND ((SELECT COUNT(*) FROM nodes n WHERE n.plan_id = p.id) <> 2 OR (SELECT COUNT(*) FROM changes c WHERE c.plan_id = p.id) <> 3)`)
	if halves > 0 {
		t.Errorf("%d plans are there by halves", halves)
	}
	if got := one[string](t, s, "SELECT integrity_check FROM pragma_integrity_check"); got != "ok" {
		t.Errorf("the database is damaged: %s", got)
	}
}

func TestFailedOpenLetsGoOfTheLock(t *testing.T) {
	s := open(t, Options{})
	if _, err := s.write.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := Open(t.Context(), Options{Path: s.opts.Path}); plan.KindOf(err) != plan.Invalid {
			t.Errorf("open: %v; want the version to be refused, not the lock", err)
		}
	}
}
