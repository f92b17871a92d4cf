package toolkit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	defaultLines = 2000
	maxLines     = 20_000
	sniffBytes   = 8000     // how much of a file decides whether it is text
	maxWhole     = 20 << 20 // largest file that is read whole
	maxLineBytes = 1 << 20  // of a line that is kept in memory
	maxOffset    = 1_000_000_000
)

func (k *Kit) readFile() tool {
	return tool{
		name: "read_file",
		doc:  "Read a text file. Lines come with their numbers and a tab, which are not part of the file.",
		params: []param{
			{name: "path", kind: isString, required: true, doc: "File, relative to the working directory."},
			{name: "offset", kind: isInteger, min: 1, max: maxOffset, doc: "First line to show; 1 when left out."},
			{name: "limit", kind: isInteger, min: 1, max: maxLines, doc: "How many lines to show; 2000 when left out."},
		},
		run: k.runRead,
	}
}

func (k *Kit) runRead(_ context.Context, a args) (string, error) {
	name := a.str("path")
	rel, err := k.jail.resolve(name)
	if err != nil {
		return "", err
	}
	f, err := k.jail.openFile(rel)
	if errors.Is(err, errIsDir) {
		return "", fmt.Errorf("%s is a directory; use list_dir", name)
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, reason(err))
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	if head, _ := r.Peek(sniffBytes); isBinary(head) {
		info, err := f.Stat()
		if err != nil {
			return "", fmt.Errorf("read %s: %w", name, reason(err))
		}
		return fmt.Sprintf("%s is a binary file (%s); its content is not shown", name, size(info.Size())), nil
	}
	return numbered(r, name, a.num("offset", 1), a.num("limit", defaultLines))
}

// numbered shows a part of a text.
func numbered(r *bufio.Reader, name string, offset, limit int) (string, error) {
	var out lines
	n := 0
	for {
		line, err := nextLine(r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("read %s: %w", name, reason(err))
		}
		if n++; n < offset {
			continue
		}
		if n >= offset+limit || !out.add(numberedLine(n, line)) {
			return out.text(fmt.Sprintf("[more lines follow: read on with offset %d]", n)), nil
		}
	}
	switch {
	case n == 0:
		return fmt.Sprintf("%s is empty", name), nil
	case n < offset:
		return "", fmt.Errorf("%s has only %s; offset %d is past its end", name, plural(n, "line", "lines"), offset)
	}
	return out.text(""), nil
}

func numberedLine(n int, line string) string {
	if n == 1 {
		line = strings.TrimPrefix(line, "\uFEFF")
	}
	return fmt.Sprintf("%6d\t%s", n, cutLine(line, maxLineRunes))
}

// nextLine returns a line without its end. Of a line too long for memory the rest is
// read and forgotten.
func nextLine(r *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if room := maxLineBytes - len(line); room > 0 {
			line = append(line, part[:min(len(part), room)]...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0, err == nil:
			return string(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))), nil
		default:
			return "", err
		}
	}
}

// isBinary takes a file for binary when its beginning has a NUL, as git does.
func isBinary(head []byte) bool { return bytes.IndexByte(head, 0) >= 0 }

// whole reads a text file that fits in memory.
func (k *Kit) whole(rel string) ([]byte, error) {
	f, err := k.jail.openFile(rel)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxWhole+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxWhole:
		return nil, fmt.Errorf("it is larger than %s", size(maxWhole))
	case isBinary(data[:min(len(data), sniffBytes)]):
		return nil, errors.New("it is a binary file")
	}
	return data, nil
}
