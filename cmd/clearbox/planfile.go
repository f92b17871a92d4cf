package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/clearbox-go/clearbox/handlers/planfile"
)

// planFile is a plan as it was read from a file.
type planFile struct {
	*planfile.File
	dir string // where relative paths in it begin
}

// readPlanFile reads a plan in YAML or JSON, from standard input when the path
// is "-". Faults name file and line.
func readPlanFile(in io.Reader, path string) (*planFile, error) {
	name, dir := "standard input", ""
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("read the plan: %w", err)
		}
		defer f.Close()
		in, name, dir = f, path, filepath.Dir(path)
	}
	file, err := planfile.Read(name, in)
	return &planFile{file, dir}, err
}

// explain adds the lines of the file to what a server found wrong with the plan:
// each fault on a line of its own.
func (p *planFile) explain(err error) error {
	var r *refusal
	if !errors.As(err, &r) || r.status != 400 && r.status != 422 {
		return err
	}
	return p.Explain(r.detail)
}

// setFolder decides what the plan works in: what a flag says, else what the file
// says, else the current folder. Relative paths in the file begin at the file. A
// subplan has none of its own.
func (p *planFile) setFolder(flag string) error {
	dir, given := p.Body["working_directory"].(string)
	_, sub := p.Body["parent_plan_id"]
	var err error
	switch {
	case flag != "":
		dir, err = filepath.Abs(flag)
	case given && !filepath.IsAbs(dir) && strings.TrimSpace(dir) != "":
		dir, err = filepath.Abs(filepath.Join(p.dir, dir))
	case given || sub || p.Body["working_directory"] != nil:
		return nil
	default:
		dir, err = os.Getwd()
	}
	if err != nil {
		return fmt.Errorf("find the folder to work in: %w", err)
	}
	p.Body["working_directory"] = dir
	return nil
}
