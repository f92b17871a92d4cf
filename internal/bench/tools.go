package main

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

// toolsScenario measures what a model waits for before it does anything: the list
// of tools, and a plan read back.
func toolsScenario() *scenario {
	fig := func(what, p string) *figure { return &figure{text: what + " over MCP, " + p, unit: "ms"} }
	tools := [2]*figure{fig("list of tools", "p50"), fig("list of tools", "p99")}
	plans := [2]*figure{fig("get_plan of 100 steps", "p50"), fig("get_plan of 100 steps", "p99")}
	return &scenario{name: "tools", figures: append(tools[:], plans[:]...), run: func(ctx context.Context, r *round) error {
		s, err := r.server(ctx, "server")
		if err != nil {
			return err
		}
		c := s.client()
		dir, err := r.work("read")
		if err != nil {
			return err
		}
		id, err := c.submit(ctx, layered(smallPlan, dir, true))
		if err != nil {
			return err
		}
		call, err := toolCall("get_plan", map[string]any{"plan_id": id})
		if err != nil {
			return err
		}
		list := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
		var took [2][]float64
		for i := range 10 * r.sizes.reads {
			for _, which := range r.alternate(i) {
				began := time.Now()
				if which == 0 {
					err = c.listTools(ctx, list)
				} else {
					err = c.toolRaw(ctx, call, nil)
				}
				if err != nil {
					return err
				}
				took[which] = append(took[which], millis(time.Since(began)))
			}
		}
		for i, p := range []float64{50, 99} {
			r.add(tools[i], percentile(took[0], p))
			r.add(plans[i], percentile(took[1], p))
		}
		return nil
	}}
}

// listTools asks for the tools, and makes sure that they came.
func (c *client) listTools(ctx context.Context, request []byte) error {
	b, err := c.send(ctx, "POST", "/mcp", request)
	if err == nil && !bytes.Contains(b, []byte(`"submit_plan"`)) {
		err = fmt.Errorf("the list of tools has no submit_plan: %.300s", b)
	}
	return err
}
