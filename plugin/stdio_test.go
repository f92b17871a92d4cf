package plugin

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoggingWithoutAHostNeitherBlocksNorKills(t *testing.T) {
	for _, hostLives := range []bool{true, false} {
		t.Run(fmt.Sprintf("host lives %t", hostLives), func(t *testing.T) {
			dir := t.TempDir()
			stdout, childOut, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			stderr, childErr, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd := harnessConfig(dir).Cmd
			hs := Handshake()
			cmd.Env = append(cmd.Env, hs.MagicCookieKey+"="+hs.MagicCookieValue)
			cmd.Stdout, cmd.Stderr = childOut, childErr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { cmd.Process.Kill(); cmd.Wait() }()
			childOut.Close()
			childErr.Close()
			addr, err := net.ResolveUnixAddr("unix", addressOn(t, stdout))
			if err != nil {
				t.Fatal(err)
			}
			c := &child{t: t, dir: dir, cmd: cmd, addr: addr}
			_, cut := c.start("noise")
			read := make(chan string)
			if hostLives {
				go func() {
					b := &buffer{}
					buf := make([]byte, 1<<16)
					for n, err := stderr.Read(buf); err == nil; n, err = stderr.Read(buf) {
						b.Write(buf[:n])
					}
					read <- b.String()
				}()
			} else {
				cut()
				stdout.Close()
				stderr.Close()
			}
			c.touch("go")
			until(t, "the harness to have logged everything", func() bool { return exists(filepath.Join(dir, "survived")) })
			client, _ := c.connect()
			s := client.Attach("r1")
			if res, err := s.Follow(t.Context(), 0, &recorder{}); err != nil || res.Text != "survived" {
				t.Errorf("got %+v, %v", res, err)
			}
			if !hostLives {
				return
			}
			cmd.Process.Kill()
			got := <-read
			x, y := strings.Count(got, strings.Repeat("x", 1000)), strings.Count(got, strings.Repeat("y", 300_000))
			if x != 4*500 || y != 1 {
				t.Errorf("stderr has %d lines and %d long lines, want 2000 and 1", x, y)
			}
		})
	}
}

// addressOn reads a handshake.
func addressOn(t *testing.T, r *os.File) string {
	t.Helper()
	buf := make([]byte, 4096)
	n, err := r.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(strings.TrimSpace(string(buf[:n])), "|")
	if len(parts) != 6 || parts[0] != "1" || parts[1] != "1" || parts[2] != "unix" || parts[4] != "netrpc" {
		t.Fatalf("handshake %q", buf[:n])
	}
	return parts[3]
}
