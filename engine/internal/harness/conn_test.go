package harness

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// TestConnectionsAreQuiet changes os.Stderr and therefore runs alone.
func TestConnectionsAreQuiet(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) // the multiplexer complains
			_ = c.Close()
		}
	}()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = w
	_, _, dialErr := dialHarness(t.Context(), l.Addr().String())
	os.Stderr = stderr
	_ = w.Close()
	said, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if dialErr == nil {
		t.Error("a stranger was taken for a harness")
	}
	if len(said) > 0 {
		t.Errorf("the server's stderr got %q", said)
	}
}

func TestSilentHarnessIsGivenUpWithTheContext(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // nobody accepts
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := dialHarness(ctx, l.Addr().String()); err == nil {
		t.Error("a connection came of it")
	}
}
