package main

import (
	"context"
	"fmt"
	"os"
	"strings"
)

const exportText = `
Prints a plan with what came of it. --format says how:

  md     Markdown: steps, results, reviews and changes, to attach to a merge
         request; below 65,536 characters
  html   one file for a browser or a printer, with the graph, all runs, their
         transcripts and diffs; nothing is loaded, known keys are removed
  json   the plan as a template: steps, order and settings without results and
  yaml   folder, for "clearbox plan submit" and for the page of a new plan

examples:
  clearbox plan export 3 > plan.md
  clearbox plan export 3 --no-diffs --out plan.md
  clearbox plan export 3 --format html --out plan.html
  clearbox plan export 3 --format yaml | clearbox plan submit - --dir ~/src/other`

// exporting is what export is told.
type exporting struct {
	file, format      string
	short, noMessages bool
}

// exportCommand prints a plan.
func exportCommand(s *streams, f *flags) action {
	var o exporting
	f.add("", option{"out", "", "write to this `file` instead", text(&o.file, "")},
		option{"format", "", "md, html, json or yaml (default: md, or what the name of the file ends in)", text(&o.format, "")},
		option{"no-diffs", "", "in Markdown: name the changed files only, without what changed in them", truth(&o.short)},
		option{"no-transcripts", "", "in HTML: leave out what agents said and did", truth(&o.noMessages)})
	r := remoteFlags(f)
	return func(ctx context.Context, args []string) error {
		id, err := planID(args[0])
		if err != nil {
			return err
		}
		path, err := o.path()
		if err != nil {
			return err
		}
		c, err := r.client()
		if err != nil {
			return err
		}
		b, err := c.export(ctx, id, path)
		if err != nil {
			return err
		}
		return o.write(s, id, b)
	}
}

// path is where the export is, below the plan.
func (o *exporting) path() (string, error) {
	format := strings.ToLower(o.format)
	if format == "" {
		format = "md"
		for _, ext := range []string{"html", "json", "yaml", "yml"} {
			if strings.HasSuffix(strings.ToLower(o.file), "."+ext) {
				format = strings.Replace(ext, "yml", "yaml", 1)
			}
		}
	}
	switch format {
	case "md", "markdown":
		if o.short {
			return "export.md?diffs=false", nil
		}
		return "export.md", nil
	case "html":
		if o.noMessages {
			return "export.html?transcripts=false", nil
		}
		return "export.html", nil
	case "json", "yaml":
		return "export." + format, nil
	}
	return "", wrongUse("--format: %q is none of md, html, json and yaml", o.format)
}

func (o *exporting) write(s *streams, id int, b []byte) error {
	if o.file == "" {
		_, err := s.out.Write(b)
		return err
	}
	if err := os.WriteFile(o.file, b, 0o666); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	fmt.Fprintf(s.out, "Wrote plan %d to %s\n", id, o.file)
	return nil
}

func (c *client) export(ctx context.Context, id int, path string) ([]byte, error) {
	var b []byte
	err := c.get(ctx, planPath(id)+"/"+path, &b)
	if refused(err, 404) {
		if _, missing := c.plan(ctx, id); missing != nil {
			return nil, missing
		}
		return nil, fmt.Errorf("the server at %s cannot export plans this way: it is of a version without that", c.base)
	}
	return b, err
}
