package toolkit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Writes reports whether the run may write files, and Runs whether it may start
// commands.
func (k *Kit) Writes() bool { return k.Has("write_file") }

// Runs reports whether the run may start commands.
func (k *Kit) Runs() bool { return k.Has("bash") }

// MayWrite says why a path may not be written: by the capability, by the limits of
// the step, or because it is outside the working directory. beyond says that it is
// the capability alone, which a person may widen.
func (k *Kit) MayWrite(path string) (beyond bool, err error) {
	if _, err := k.target(path); err != nil {
		return false, err
	}
	if !k.Writes() {
		return true, fmt.Errorf("%s may not be written: this run changes no files", path)
	}
	return false, nil
}

// ReadText returns a text file as it is, for agents that read through their host:
// from a line on, counted from 1, and at most limit lines; 0 means from the first
// one, and all.
func (k *Kit) ReadText(path string, line, limit int) (string, error) {
	rel, err := k.jail.resolve(path)
	if err != nil {
		return "", err
	}
	f, err := k.jail.openFile(rel)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, reason(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxWhole+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", path, reason(err))
	case len(b) > maxWhole:
		return "", fmt.Errorf("read %s: it is larger than %s", path, size(maxWhole))
	case isBinary(b[:min(len(b), sniffBytes)]):
		return "", fmt.Errorf("read %s: it is a binary file", path)
	}
	return someLines(strings.ToValidUTF8(string(b), "\uFFFD"), line, limit), nil
}

// someLines keeps some lines of a text, with their ends.
func someLines(text string, line, limit int) string {
	for range max(line, 1) - 1 {
		_, rest, more := strings.Cut(text, "\n")
		if !more {
			return ""
		}
		text = rest
	}
	if limit <= 0 {
		return text
	}
	end := 0
	for range limit {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return text
		}
		end += i + 1
	}
	return text[:end]
}

// WriteText writes a whole text file in one step, where the run may write it.
func (k *Kit) WriteText(path, content string) error {
	if _, err := k.MayWrite(path); err != nil {
		return err
	}
	rel, err := k.target(path)
	if err != nil {
		return err
	}
	if old, err := k.jail.openFile(rel); err == nil {
		same := sameContent(old, content)
		old.Close()
		if same {
			return nil
		}
	}
	if _, err := k.jail.replace(rel, []byte(content)); err != nil {
		if errors.Is(err, errIsDir) {
			return fmt.Errorf("%s is a directory", path)
		}
		return fmt.Errorf("write %s: %w", path, reason(err))
	}
	return nil
}

func sameContent(r io.Reader, content string) bool {
	b, err := io.ReadAll(io.LimitReader(r, int64(len(content))+1))
	return err == nil && bytes.Equal(b, []byte(content))
}

// Dir returns a folder, absolute or relative, as [plugin.Exec] wants it: relative to
// the working directory, which it must be in.
func (k *Kit) Dir(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	return k.jail.resolve(path)
}
