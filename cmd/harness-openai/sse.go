package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

const maxEvent = 16 << 20 // bytes of one event

// events reads server-sent events. Only their data matters here: comments, names and
// ids are passed over, and so is an event without data.
type events struct {
	r *bufio.Reader
}

// next returns the data of the next event, or io.EOF.
func (e *events) next() ([]byte, error) {
	var data []byte
	has := false
	for {
		line, err := e.line()
		if errors.Is(err, io.EOF) && has {
			return data, nil // the blank line at the very end is often missing
		}
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			if has {
				return data, nil
			}
			continue
		}
		value, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			continue
		}
		if has {
			data = append(data, '\n')
		}
		data, has = append(data, bytes.TrimPrefix(value, []byte(" "))...), true
		if len(data) > maxEvent {
			return nil, fmt.Errorf("the endpoint sent an event of more than %d bytes", maxEvent)
		}
	}
}

// line returns a line without its end. What is longer than an event may be is an
// error rather than memory.
func (e *events) line() ([]byte, error) {
	var line []byte
	for {
		part, err := e.r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(line) <= maxEvent:
			continue
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("the endpoint sent a line of more than %d bytes", maxEvent)
		case err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		}
		return bytes.TrimRight(line, "\r\n"), nil
	}
}
