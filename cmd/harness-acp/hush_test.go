package main

import (
	"context"
	"errors"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit/secrets"
)

// hush is a host that keeps nothing and starts nothing.
type hush struct{}

func (hush) Emit(plugin.Event) {}

func (hush) Ask(context.Context, plugin.Question) (plugin.Answer, error) {
	return plugin.Answer{}, errors.New("nobody is here")
}

func (hush) Command(context.Context, []string, plugin.Exec) (plugin.Proc, error) {
	return nil, errors.New("nothing is started here")
}

func hushed() secrets.Host { return secrets.Host{Host: hush{}} }
