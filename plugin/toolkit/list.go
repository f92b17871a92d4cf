package toolkit

import (
	"context"
	"fmt"
	"io/fs"
	"path"
)

const (
	maxListed    = 1000
	maxListDepth = 20
)

func (k *Kit) listDir() tool {
	return tool{
		name: "list_dir",
		doc:  "List a folder: one path a line, relative to the working directory, folders with a slash at the end.",
		params: []param{
			{name: "path", kind: isString, doc: "Folder; the working directory when left out."},
			{name: "depth", kind: isInteger, min: 1, max: maxListDepth, doc: "How many levels to show; 1 when left out."},
		},
		run: k.runList,
	}
}

func (k *Kit) runList(ctx context.Context, a args) (string, error) {
	name := a.path("path")
	rel, err := k.jail.resolve(name)
	if err != nil {
		return "", err
	}
	var out lines
	remark := ""
	err = k.jail.walk(ctx, rel, a.num("depth", 1), func(e entry) error {
		if out.n == maxListed || !out.add(describe(e)) {
			remark = fmt.Sprintf("[cut after %s: list a folder further down, or with less depth]", plural(out.n, "entry", "entries"))
			return errStop
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("list %s: %w", name, reason(err))
	}
	if out.n == 0 {
		return fmt.Sprintf("%s is empty", name), nil
	}
	return out.text(remark), nil
}

func describe(e entry) string {
	switch {
	case e.skipped:
		return e.rel + "/ (left out)"
	case e.mode.IsDir():
		return e.rel + "/"
	case e.mode == fs.ModeSymlink:
		target, err := e.dir.Readlink(e.name)
		if err != nil {
			return e.rel + " -> ?"
		}
		return e.rel + " -> " + target
	}
	if info, err := e.dir.Lstat(e.name); err == nil && info.Mode().IsRegular() {
		return fmt.Sprintf("%s (%s)", e.rel, size(info.Size()))
	}
	return path.Clean(e.rel)
}
