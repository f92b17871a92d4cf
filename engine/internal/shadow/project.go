package shadow

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// project is the user's repository that a working directory lies in. It is only
// ever read.
type project struct {
	top    string // the folder that has .git
	gitDir string // of this work tree
	common string // of the repository; differs from gitDir in linked work trees
}

// findProject looks for the repository of a resolved folder, as git does. There
// is none when ok is false; a broken .git ends the search.
func findProject(dir string) (p project, ok bool) {
	for {
		dotGit := filepath.Join(dir, ".git")
		if info, err := os.Stat(dotGit); err == nil {
			gitDir := dotGit
			if !info.IsDir() {
				gitDir = linkedGitDir(dotGit)
			}
			if !isRepository(gitDir) && info.IsDir() {
				gitDir = "" // git passes by a folder that is none
			} else if !isRepository(gitDir) {
				return p, false
			}
			if gitDir != "" {
				return project{top: dir, gitDir: gitDir, common: commonDir(gitDir)}, true
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			return p, false
		}
		dir = up
	}
}

// linkedGitDir returns where a .git file points.
func linkedGitDir(file string) string {
	data, err := readSmall(file)
	to, ok := strings.CutPrefix(string(data), "gitdir: ")
	if err != nil || !ok {
		return ""
	}
	return resolveFrom(filepath.Dir(file), strings.TrimRight(to, "\r\n"))
}

func commonDir(gitDir string) string {
	data, err := readSmall(filepath.Join(gitDir, "commondir"))
	if err != nil {
		return gitDir
	}
	return resolveFrom(gitDir, strings.TrimRight(string(data), "\r\n"))
}

// excludeFile is where the repository's own rules of what to ignore are. Unlike at
// a .gitignore, git follows a link here.
func (p *project) excludeFile() string {
	path := filepath.Join(p.common, "info", "exclude")
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// usesSHA256 reports whether the objects of the project have long names.
func (p *project) usesSHA256() bool {
	config, err := readSmall(filepath.Join(p.common, "config"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(config)) {
		name, value, ok := strings.Cut(line, "=")
		if ok && strings.EqualFold(strings.TrimSpace(name), "objectformat") && strings.EqualFold(strings.TrimSpace(value), "sha256") {
			return true
		}
	}
	return false
}

func resolveFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// isRepository reports whether git would take a folder for a repository.
func isRepository(gitDir string) bool {
	if gitDir == "" {
		return false
	}
	if _, err := os.Lstat(filepath.Join(gitDir, "HEAD")); err != nil {
		return false
	}
	common := commonDir(gitDir)
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(common, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// smallFile bounds the files that are read for their settings, in bytes.
const smallFile = 4 << 20

// readSmall reads a file of settings.
func readSmall(path string) ([]byte, error) { return readRegular(path, smallFile) }

// readRegular reads a regular file that may be anything, since it lies in a tree
// that nobody vouches for: git itself would wait for ever at a fifo.
func readRegular(path string, limit int64) ([]byte, error) {
	dir, name := filepath.Split(path)
	fd, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer closeFD(fd)
	data, s, err := readFileAt(fd, name, limit)
	if err == nil && s.size > limit {
		err = fmt.Errorf("it is larger than %s", size(limit))
	}
	return data, err
}
