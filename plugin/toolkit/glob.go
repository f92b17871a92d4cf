package toolkit

import (
	"context"
	"fmt"
	"strings"
)

const maxGlobbed = 500

func (k *Kit) glob() tool {
	return tool{
		name: "glob",
		doc: "Find files by name. * and ? stand for characters within a name, ** for any folders, {a,b} for alternatives: " +
			"\"*.go\" finds by name anywhere, \"cmd/**/*.go\" under cmd. Gives paths relative to the working directory.",
		params: []param{{name: "pattern", kind: isString, required: true, doc: "What to look for."}},
		run:    k.runGlob,
	}
}

func (k *Kit) runGlob(ctx context.Context, a args) (string, error) {
	p, err := compilePattern(k.jail.inside(a.str("pattern")))
	if err != nil {
		return "", err
	}
	var out lines
	remark := ""
	err = k.jail.walk(ctx, ".", maxDepth, func(e entry) error {
		if e.mode.IsDir() || !p.match(e.rel) {
			return nil
		}
		if out.n == maxGlobbed || !out.add(e.rel) {
			remark = fmt.Sprintf("[cut after %d files: use a narrower pattern]", out.n)
			return errStop
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("glob: %w", reason(err))
	}
	if out.n == 0 {
		return fmt.Sprintf("no file matches %s", a.str("pattern")), nil
	}
	return out.text(remark), nil
}

// inside takes the working directory off the front of an absolute pattern.
func (j *jail) inside(pattern string) string {
	for _, dir := range []string{j.dir, j.real} {
		if rest, ok := strings.CutPrefix(pattern, strings.TrimSuffix(dir, "/")+"/"); ok {
			return rest
		}
	}
	return pattern
}
