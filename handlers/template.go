package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"reflect"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/handlers/planfile"
	"github.com/clearbox-go/clearbox/views"
)

// exportTemplate answers with a plan as it can be submitted again, in JSON or, where
// the path says so, in YAML.
func (s *server) exportTemplate(c echo.Context) error {
	id, err := numberIn(c, "plan_id")
	if err != nil {
		return err
	}
	in, err := s.engine.Template(c.Request().Context(), plan.PlanID(id))
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(in, "", "  ")
	if err != nil {
		return fmt.Errorf("encode a plan: %w", err)
	}
	ext, media := "json", "application/json"
	if strings.HasSuffix(c.Request().URL.Path, ".yaml") {
		ext, media = "yaml", "application/yaml"
		if text, err = planfile.YAML(text); err != nil {
			return err
		}
	}
	attach(c, fmt.Sprintf("plan-%d.%s", id, ext))
	return c.Blob(http.StatusOK, media, text)
}

// attach has browsers save an answer that was asked for as a download.
func attach(c echo.Context, name string) {
	if c.QueryParam("download") != "" {
		c.Response().Header().Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=%q", name))
	}
}

// fromFileAction makes a plan from a file that was uploaded or pasted, and leads to
// it.
func (p *site) fromFileAction(c echo.Context) error {
	file, err := sentPlan(c)
	if err != nil {
		return &fieldError{"new-file-error", err}
	}
	if dir := strings.TrimSpace(c.FormValue("working_directory")); dir != "" {
		file.Body["working_directory"] = dir
	}
	id, err := p.submitFile(c.Request().Context(), file)
	if err != nil {
		at := "new-file-error"
		if strings.Contains(plan.MessageOf(err), "working_directory") {
			at = "new-dir-error"
		}
		return &fieldError{at, err}
	}
	return goTo(c, views.PlanURL(id))
}

// sentPlan reads the plan of a form: an uploaded file, else pasted text.
func sentPlan(c echo.Context) (*planfile.File, error) {
	sent, missing := c.FormFile("file") // first: it reads the fields of such a form too
	name, text := "the text", longText(c, "text")
	in := io.Reader(strings.NewReader(text))
	switch {
	case missing == nil && sent.Size > 0:
		f, err := sent.Open()
		if err != nil {
			return nil, fmt.Errorf("read the file: %w", err)
		}
		defer closeSent(f)
		name, in = sent.Filename, f
	case strings.TrimSpace(text) == "":
		return nil, plan.Errorf(plan.Invalid, "choose a file, or paste a plan in YAML or JSON")
	}
	file, err := planfile.Read(name, in)
	if err != nil {
		return nil, plan.Errorf(plan.Malformed, "%s", err.Error())
	}
	return file, nil
}

func closeSent(f multipart.File) { _ = f.Close() } // it was only read

// submitFile submits a plan from a file. What is wrong with it is told with lines.
func (p *site) submitFile(ctx context.Context, file *planfile.File) (plan.PlanID, error) {
	text, err := json.Marshal(file.Body)
	if err != nil {
		return 0, plan.Errorf(plan.Malformed, "%s: %s", file.Name, err.Error())
	}
	var in engine.SubmitPlanIn
	d := &decoder{what: "the plan", strict: true}
	d.object(text, shapeOf(reflect.TypeFor[engine.SubmitPlanIn]()), reflect.ValueOf(&in).Elem(), "")
	if err = d.err("the plan was refused; nothing was created:"); err == nil {
		var out engine.SubmitPlanOut
		if out, err = p.engine.SubmitPlan(ctx, in); err == nil {
			return out.PlanID, nil
		}
	}
	if kind := plan.KindOf(err); kind != plan.Invalid && kind != plan.Malformed {
		return 0, err
	}
	return 0, &plan.Error{Kind: plan.KindOf(err), Msg: file.Explain(plan.MessageOf(err)).Error()}
}

// followUpAction makes a step of what a review found, and leads to it.
func (p *site) followUpAction(c echo.Context, r plan.Ref) error {
	made, err := p.engine.FollowUp(c.Request().Context(), engine.FollowUpIn{PlanID: r.Plan, NodeID: r.Node, Finding: longText(c, "finding")})
	if err != nil {
		return err
	}
	return goTo(c, views.NodeURL(made))
}

func followUp(e *engine.Engine, ctx context.Context, in engine.FollowUpIn) (nodeView, error) {
	r, err := e.FollowUp(ctx, in)
	if err != nil {
		return nodeView{}, err
	}
	return viewOf(e, ctx, r)
}
