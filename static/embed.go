// Package static holds what browsers load besides pages: styles, scripts and the
// icon of the site. All of it is part of the binary. Names carry a hash of the
// content, so browsers may keep a file for ever and never see a stale one.
package static

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
	"time"
)

// Prefix is the path under which files are served.
const Prefix = "/static/"

//go:embed app.css pages.css changes.css report.css app.js boot.js watch.js live-worker.js favicon.svg favicon-marked.svg vendor/htmx.min.js
var embedded embed.FS

var names = []string{"app.css", "pages.css", "changes.css", "report.css", "app.js", "boot.js", "watch.js", "live-worker.js", "favicon.svg", "favicon-marked.svg", "vendor/htmx.min.js"}

// Files are the embedded files under their hashed names. Make them with Load.
// They do not change and may be read concurrently.
type Files struct {
	urls   map[string]string // by plain name
	served map[string]file   // by hashed name
}

type file struct {
	content []byte
	mime    string
}

// Load hashes the embedded files.
func Load() *Files {
	f := &Files{urls: map[string]string{}, served: map[string]file{}}
	for _, name := range names {
		b, err := embedded.ReadFile(name)
		if err == nil { // they are part of the binary: a test sees to it
			f.add(path.Base(name), b)
		}
	}
	return f
}

func (f *Files) add(name string, content []byte) {
	sum := sha256.Sum256(content)
	ext := path.Ext(name)
	hashed := strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
	f.urls[name] = Prefix + hashed
	f.served[hashed] = file{content, types[ext]}
}

// types are not taken from the system, whose tables say what they like.
var types = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// URL returns the path of a file by its plain name, e.g. "app.css". It is empty
// for a name that does not exist.
func (f *Files) URL(name string) string { return f.urls[name] }

// Text returns the content of a file by its plain name, "" for one that does not
// exist.
func (f *Files) Text(name string) string {
	return string(f.served[strings.TrimPrefix(f.urls[name], Prefix)].content)
}

// ServeHTTP answers requests for paths under Prefix.
func (f *Files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	file, ok := f.served[strings.TrimPrefix(r.URL.Path, Prefix)]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", file.mime)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file.content))
}
