// Package shadow keeps what working directories looked like, in bare git
// repositories of its own below the data directory, one for each working
// directory. It takes snapshots, compares them, makes isolated copies of a
// working directory and brings their changes back.
//
// The trees it reads are hostile as far as it knows. So it walks them itself,
// follows no link, and has git look only at its own repositories, in a clean
// environment: nothing that a tree says about hooks, filters, drivers or monitors
// is ever run. Of the user's repository it reads the index, the rules of what to
// ignore and HEAD, and writes nothing.
package shadow

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Options are the limits of snapshots; zero fields mean the defaults.
type Options struct {
	// Exclude names folders and files that no snapshot has, as absolute paths.
	// The data directory is always one of them.
	Exclude []string
	// MaxFile is the size in bytes up to which the content of a file is kept.
	// Default 50 MiB.
	MaxFile int64
	// MaxNew bounds the content that one snapshot adds, in bytes. Default 1 GiB.
	MaxNew int64
	// MaxFiles is how many files and folders a snapshot takes before it looks at declared
	// paths only. Default 200,000.
	MaxFiles int
	// MaxOpen is how many working directories are kept in memory. Default 8.
	MaxOpen int
}

func (o *Options) fill() {
	setDefault(&o.MaxFile, 50<<20)
	setDefault(&o.MaxNew, 1<<30)
	setDefault(&o.MaxFiles, 200_000)
	setDefault(&o.MaxOpen, 8)
}

func setDefault[T int | int64](v *T, to T) {
	if *v <= 0 {
		*v = to
	}
}

// Repo is all shadow repositories of one data directory. Its methods may be
// called at once. Only one process may use a data directory.
type Repo struct {
	data    string
	opts    Options
	exclude []string
	pruning sync.Mutex
	stopAt  func(step string) error // for tests

	mu       sync.Mutex
	gitFound string
	folders  map[string]*folder // by key
	recent   map[Tree]time.Time // trees that Prune must not take yet
}

// Open prepares the use of a data directory, which must exist. It does not look
// for git: what needs it returns ErrNoGit.
func Open(dataDir string, o Options) (*Repo, error) {
	data, err := filepath.EvalSymlinks(dataDir)
	if err == nil {
		data, err = filepath.Abs(data)
	}
	if err != nil {
		return nil, fmt.Errorf("open the shadow repositories: %w", err)
	}
	o.fill()
	r := &Repo{data: data, opts: o, folders: map[string]*folder{}, recent: map[Tree]time.Time{}}
	for _, p := range append([]string{data}, o.Exclude...) {
		r.exclude = append(r.exclude, resolveLoosely(p))
	}
	if err := os.MkdirAll(r.shadows(), 0o700); err != nil {
		return nil, fmt.Errorf("open the shadow repositories: %w", err)
	}
	left, _ := filepath.Glob(filepath.Join(quoteGlob(r.shadows()), tempIndex+"*"))
	for _, dir := range left {
		_ = os.RemoveAll(dir) // of a process that was killed
	}
	return r, nil
}

func (r *Repo) shadows() string { return filepath.Join(r.data, "shadow") }

// Close writes down what makes the next snapshots fast. No other call may be
// under way.
func (r *Repo) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for key, f := range r.folders {
		errs = append(errs, f.save())
		delete(r.folders, key)
	}
	return errors.Join(errs...)
}

// resolveLoosely resolves the links of a path of which the end need not exist.
func resolveLoosely(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return filepath.Clean(path)
	}
	for dir, rest := path, ""; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return path
		}
		dir, rest = up, filepath.Join(filepath.Base(dir), rest)
	}
}

// folder is the shadow of one working directory. Whoever has its turn may use the
// fields below.
type folder struct {
	repo  *Repo
	key   string
	root  string // the working directory, resolved
	dir   string // the bare repository
	store *objects
	users int           // guarded by Repo.mu
	used  time.Time     // guarded by Repo.mu
	turn  chan struct{} // holds one token while nobody has the turn

	nonce string // marks what stands for a file that was not kept
	cache *node
	stale int // entries that the saved cache does not have
	saved time.Time
	outer outer

	left []LeftOut // of the last snapshot, with paths as they are

	copyRules *outer // in place of outer, for a copy of the working directory
}

// keyOf names the shadow of a resolved path.
func keyOf(root string) string {
	sum := sha256.Sum256([]byte(root))
	return fmt.Sprintf("%x", sum[:8])
}

// folderAt returns the shadow of a working directory, makes it on first use, and
// counts the caller as its user until release.
func (r *Repo) folderAt(workdir string) (*folder, error) {
	root, err := filepath.EvalSymlinks(workdir)
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(root); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, plan.Errorf(plan.Invalid, "the working directory %s is no folder", workdir)
	}
	return r.folderFor(keyOf(root), root)
}

// folderFor returns a shadow by its key. The root may be empty for one that exists.
func (r *Repo) folderFor(key, root string) (*folder, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.folders[key]
	if f == nil {
		f = &folder{repo: r, key: key, root: root, dir: filepath.Join(r.shadows(), key)}
		f.turn = make(chan struct{}, 1)
		f.turn <- struct{}{}
		if err := f.open(); err != nil {
			return nil, fmt.Errorf("open the shadow repository of %s: %w", root, err)
		}
		r.folders[key] = f
	}
	f.users++
	f.used = time.Now()
	r.evict()
	return f, nil
}

func (r *Repo) release(f *folder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.users--
}

// evict forgets the working directory that was not used for the longest time,
// when there are too many. What it does not manage to save is read anew later.
func (r *Repo) evict() {
	if len(r.folders) <= r.opts.MaxOpen {
		return
	}
	var oldest *folder
	for _, f := range r.folders {
		if f.users == 0 && (oldest == nil || f.used.Before(oldest.used)) {
			oldest = f
		}
	}
	if oldest != nil {
		_ = oldest.save()
		delete(r.folders, oldest.key)
	}
}

// lock waits for the turn.
func (f *folder) lock(ctx context.Context) error {
	select {
	case <-f.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *folder) unlock() { f.turn <- struct{}{} }

const (
	bareConfig = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tlogallrefupdates = false\n[gc]\n\tauto = 0\n"
	bareHead   = "ref: refs/heads/none\n"
)

// open makes the bare repository, or puts right what is not as it was made, and
// loads the cache.
func (f *folder) open() (err error) {
	files := [][2]string{{"config", bareConfig}, {"HEAD", bareHead}}
	if f.root != "" {
		files = append(files, [2]string{"workdir", f.root})
	} else if b, err := os.ReadFile(filepath.Join(f.dir, "workdir")); err != nil {
		return err
	} else {
		f.root = string(b)
	}
	packs := filepath.Join(f.dir, "objects", "pack")
	for _, dir := range []string{packs, filepath.Join(f.dir, "refs")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	for _, x := range files {
		if err := keepFile(filepath.Join(f.dir, x[0]), x[1]); err != nil {
			return err
		}
	}
	if f.nonce, err = keepNonce(filepath.Join(f.dir, "nonce")); err != nil {
		return err
	}
	if f.store, err = openObjects(packs); err != nil {
		return err
	}
	f.load()
	return nil
}

// keepFile writes a file unless it has the content.
func keepFile(path, content string) error {
	if b, err := os.ReadFile(path); err == nil && string(b) == content {
		return nil
	}
	return replaceFile(path, []byte(content))
}

// replaceFile writes a file aside and puts it in place at once.
func replaceFile(path string, data []byte) error {
	if err := writeDurably(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// keepNonce reads a random word, or makes it.
func keepNonce(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err == nil && len(b) >= 26 {
		return strings.TrimSpace(string(b)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	word := rand.Text()
	return word, replaceFile(path, []byte(word))
}
