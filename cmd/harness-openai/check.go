package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit/secrets"
)

const (
	checkTime  = 20 * time.Second
	sampleSize = 10
)

// Check implements [plugin.Harness]. With connect it asks for the list of models,
// which costs nothing.
func (h *harness) Check(ctx context.Context, p plugin.Profile, connect bool) (plugin.Report, error) {
	scrub := secrets.New(p.Secret)
	r := plugin.Report{Credential: p.Credential, ModelsSample: []string{}}
	if r.Credential == "" {
		r.Credential = "none"
	}
	set, bad := readProfile(p)
	if set.endpoint.base != nil {
		r.BaseURL = set.endpoint.shown()
	}
	switch {
	case bad != nil:
		r.Field, r.Detail = bad.Field, scrub.Text(bad.Text)
	case !connect:
		r.OK, r.Detail = true, fmt.Sprintf("complete; whether %s answers was not tried", r.BaseURL)
	default:
		ctx, cancel := context.WithTimeout(ctx, checkTime)
		defer cancel()
		c := &checker{setup: set, http: h.http, report: r}
		c.run(ctx)
		r = c.report
		r.Detail = scrub.Text(r.Detail)
	}
	return r, nil
}

// checker fills in a report by asking the endpoint.
type checker struct {
	setup
	http   *http.Client
	report plugin.Report
}

func (c *checker) run(ctx context.Context) {
	resp, body, err := c.send(ctx, http.MethodGet, "models", nil)
	if err != nil {
		c.unreachable(ctx, err)
		return
	}
	c.report.Reachable = ptr(true)
	switch {
	case resp.StatusCode == http.StatusOK:
		c.listed(body)
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusMethodNotAllowed:
		c.tryChat(ctx)
	default:
		c.refused(resp, body, c.endpoint.url("models"))
	}
}

func (c *checker) send(ctx context.Context, method, path string, body []byte) (*http.Response, []byte, error) {
	q, err := http.NewRequestWithContext(ctx, method, c.endpoint.url(path), bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	q.Header.Set("Authorization", c.endpoint.authorization())
	q.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(q)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return resp, data, err
}

func (c *checker) unreachable(ctx context.Context, err error) {
	c.report.Reachable, c.report.Field = ptr(false), "base_url"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		c.report.Detail = fmt.Sprintf("could not connect to %s: no answer within %v", c.endpoint.shown(), checkTime)
		return
	}
	c.report.Detail = connectFault(err, c.endpoint).text
}

func (c *checker) refused(resp *http.Response, body []byte, url string) {
	q := asked{url: url, model: c.model, withKey: c.endpoint.key != ""}
	c.report.Detail = statusFault(resp.StatusCode, resp.Header, readAPIError(body), q).text
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		c.report.Field = "api_key_env"
	case http.StatusNotFound:
		c.report.Field = "base_url"
	}
}

// listed looks for the model in the list. An endpoint that lists nothing tells
// nothing about the model.
func (c *checker) listed(body []byte) {
	ids, ok := modelIDs(body)
	if !ok {
		c.report.Field, c.report.Detail = "base_url", notJSON().text
		return
	}
	c.report.ModelsSample = ids[:min(len(ids), sampleSize)]
	if len(ids) == 0 {
		c.report.OK, c.report.Detail = true, fmt.Sprintf("%s answers; it lists no models, so whether it has '%s' is not known", c.endpoint.shown(), c.model)
		return
	}
	has := slices.ContainsFunc(ids, func(id string) bool { return sameModel(id, c.model) })
	c.report.ModelListed, c.report.OK = &has, has
	if has {
		c.report.Detail = fmt.Sprintf("%s answers and has the model '%s'", c.endpoint.shown(), c.model)
		return
	}
	c.report.Field = "model"
	c.report.Detail = fmt.Sprintf("%s answers, but the model '%s' is not among the %d that it lists: check the model's name (some gateways serve models that they do not list)", c.endpoint.shown(), c.model, len(ids))
}

// modelIDs reads a list of models: {"data": [{"id": …}]}, or the list alone.
func modelIDs(body []byte) ([]string, bool) {
	type model struct {
		ID string `json:"id"`
	}
	var wrapped struct {
		Data []model `json:"data"`
	}
	list := []model{}
	if json.Unmarshal(body, &wrapped) == nil {
		list = wrapped.Data
	} else if json.Unmarshal(body, &list) != nil {
		return nil, false
	}
	ids := []string{}
	for _, m := range list {
		if m.ID != "" {
			ids = append(ids, m.ID)
		}
	}
	return ids, true
}

// sameModel takes a name without tag for the one with the tag latest, and looks past
// the folder that some endpoints put before their names.
func sameModel(id, model string) bool {
	return id == model || id == model+":latest" || strings.TrimPrefix(id, "models/") == model
}

// tryChat sends a request that no server can accept, to see whether there is one at
// the path where runs will go. It costs nothing.
func (c *checker) tryChat(ctx context.Context) {
	resp, body, err := c.send(ctx, http.MethodPost, "chat/completions", []byte(`{}`))
	switch {
	case err != nil:
		c.unreachable(ctx, err)
	case resp.StatusCode == http.StatusBadRequest, resp.StatusCode == http.StatusUnprocessableEntity:
		c.report.OK = true
		c.report.Detail = fmt.Sprintf("%s answers; it has no list of models, so whether it has '%s' is not known", c.endpoint.shown(), c.model)
	default:
		c.refused(resp, body, c.endpoint.url("chat/completions"))
	}
}
