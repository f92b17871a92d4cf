package handlers

import (
	"io"
	"net/http"
	"time"
)

// bodyTime is how long the body of a request may take to arrive, whole.
const bodyTime = 2 * time.Minute

// promptBody is a body that has to arrive in time: a client that sends a byte
// now and then does not hold a connection for ever. The deadline ends with the
// body, since what the server does with it may take long.
type promptBody struct {
	io.ReadCloser
	ctl *http.ResponseController
}

// prompt gives a request's body its deadline, also where no handler reads it:
// the server then reads on, to use the connection again.
func prompt(w http.ResponseWriter, body io.ReadCloser, within time.Duration) io.ReadCloser {
	b := &promptBody{body, http.NewResponseController(w)}
	_ = b.ctl.SetReadDeadline(time.Now().Add(within)) // where it is not supported there is none
	return b
}

// Read reads on.
func (b *promptBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.forget()
	}
	return n, err
}

// Close reads the rest, within the deadline.
func (b *promptBody) Close() error {
	defer b.forget()
	return b.ReadCloser.Close()
}

func (b *promptBody) forget() { _ = b.ctl.SetReadDeadline(time.Time{}) }
