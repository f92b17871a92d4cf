package harness

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/rpc"

	"github.com/hashicorp/yamux"

	"github.com/clearbox-go/clearbox/plugin"
)

// conn is the host's end of go-plugin's net/rpc protocol, a
// [goplugin.ClientProtocol]. It differs from go-plugin's own in two ways: yamux
// cannot write to the server's stderr, as it does there whenever a harness is
// killed, and closing it does not end the harness.
type conn struct {
	mux     *yamux.Session
	control *rpc.Client
}

// dialHarness connects to the socket of a harness and to the contract behind it.
// A harness that accepts but does not answer is given up when ctx ends.
func dialHarness(ctx context.Context, addr string) (*conn, *plugin.Client, error) {
	var d net.Dialer
	socket, err := d.DialContext(ctx, "unix", addr)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the harness: %w", err)
	}
	quiet := yamux.DefaultConfig()
	quiet.LogOutput = io.Discard
	mux, err := yamux.Client(socket, quiet)
	if err != nil {
		_ = socket.Close()
		return nil, nil, fmt.Errorf("connect to the harness: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = mux.Close() })()
	c := &conn{mux: mux}
	client, err := c.open()
	if err != nil {
		_ = mux.Close()
		return nil, nil, fmt.Errorf("talk to the harness: %w", err)
	}
	return c, client, nil
}

// open opens the streams that the other end waits for, in its order.
func (c *conn) open() (*plugin.Client, error) {
	control, err := c.mux.Open()
	if err != nil {
		return nil, err
	}
	c.control = rpc.NewClient(control)
	for range 2 { // what harnesses print over the connection is not looked at, but must not block them
		output, err := c.mux.Open()
		if err != nil {
			return nil, err
		}
		go func() { _, _ = io.Copy(io.Discard, output) }() // ends with the connection
	}
	return plugin.NewClient(c)
}

// Dispense implements [goplugin.ClientProtocol].
func (c *conn) Dispense(name string) (any, error) {
	p, ok := plugin.PluginMap()[name]
	if !ok {
		return nil, fmt.Errorf("there is no %q in the contract", name)
	}
	var id uint32
	if err := c.control.Call("Dispenser.Dispense", name, &id); err != nil {
		return nil, err
	}
	stream, err := c.dialStream(id)
	if err != nil {
		return nil, err
	}
	return p.Client(nil, rpc.NewClient(stream)) // the contract has no use for a broker
}

// dialStream opens the stream on which the other end serves id.
func (c *conn) dialStream(id uint32) (net.Conn, error) {
	stream, err := c.mux.Open()
	if err != nil {
		return nil, err
	}
	if err := binary.Write(stream, binary.LittleEndian, id); err != nil {
		return nil, err
	}
	var ack uint32
	if err := binary.Read(stream, binary.LittleEndian, &ack); err != nil {
		return nil, err
	}
	if ack != id {
		return nil, fmt.Errorf("asked for stream %d, got %d", id, ack)
	}
	return stream, nil
}

// Ping implements [goplugin.ClientProtocol].
func (c *conn) Ping() error {
	return c.control.Call("Control.Ping", true, &struct{}{})
}

// Close lets go of the harness, which goes on.
func (c *conn) Close() error { return c.mux.Close() }
