package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Environment variables of the process.
const (
	bootEnv   = "CLEARBOX_MOCK_BOOT"
	orphanEnv = "CLEARBOX_MOCK_ORPHAN" // parent:SECONDS or child:SECONDS
)

// playRole does what the environment asks for instead of serving.
func playRole() bool {
	if role := os.Getenv(orphanEnv); role != "" {
		beOrphan(role)
		return true
	}
	switch os.Getenv(bootEnv) {
	case "garbage":
		fmt.Println("good morning, this is no handshake")
		forever()
	case "bigline":
		fmt.Print(strings.Repeat("x", 1<<20))
		forever()
	case "hang":
		forever()
	case "exit":
		fmt.Fprintln(os.Stderr, "harness-mock: exit before the handshake, as told")
		os.Exit(1)
	default:
		return false
	}
	return true
}

// forever is long enough for every test, and lets nothing survive a day.
func forever() { <-time.After(24 * time.Hour) }

// orphan starts a process that belongs to nobody: in a session of its own, and
// the one that started it is gone. It returns its number.
func orphan(seconds int) (pid int, err error) {
	out, err := ownSession("parent", seconds).Output()
	if err != nil {
		return 0, fmt.Errorf("start an orphan: %w", err)
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// beOrphan is the first or the second process of orphan.
func beOrphan(role string) {
	who, arg, _ := strings.Cut(role, ":")
	seconds, err := strconv.Atoi(arg)
	if err != nil {
		os.Exit(2)
	}
	if who == "child" {
		<-time.After(time.Duration(seconds) * time.Second)
		return
	}
	child := ownSession("child", seconds)
	if err := child.Start(); err != nil {
		os.Exit(1)
	}
	fmt.Println(child.Process.Pid)
}

func ownSession(who string, seconds int) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{fmt.Sprintf("%s=%s:%d", orphanEnv, who, seconds)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}
