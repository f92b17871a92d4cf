package shadow

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// copyAttributes is stronger than what .gitattributes files say, so that git in
// the worktree takes and gives bytes as they are.
const copyAttributes = "* -text -ident -filter -working-tree-encoding\n"

const copyConfig = `[core]
	repositoryformatversion = 0
	bare = false
	filemode = true
	symlinks = true
	autocrlf = false
	logallrefupdates = true
[gc]
	auto = 0
[commit]
	gpgSign = false
`

// makeGitDir makes the worktree a repository, with one commit on top of the
// project's last one, in which all files are.
func (c *copying) makeGitDir(ctx context.Context, dir string, tree id, files []copied) error {
	for _, sub := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	head, refs, err := c.f.repo.readRefs(ctx, &c.project)
	if err != nil {
		return err
	}
	commit, d := c.commit(tree, head)
	if err := writeLoose(dir, d, kindCommit, commit); err != nil {
		return err
	}
	exclude, _ := readSmall(c.project.excludeFile())
	branch := "refs/heads/clearbox/" + c.owner.ID
	if strings.Contains(refs, " refs/heads/clearbox\n") {
		branch = "refs/heads/clearbox-" + c.owner.ID // a branch cannot be a folder, too
	}
	text := map[string]string{
		"config": copyConfig, "HEAD": "ref: " + branch + "\n", branch: d.String() + "\n", "packed-refs": refs,
		"info/exclude": string(exclude), "info/attributes": copyAttributes, "index": string(encodeGitIndex(files)),
		"objects/info/alternates": alternate(filepath.Join(c.f.dir, "objects")) + alternate(filepath.Join(c.project.common, "objects")),
	}
	if shallow, err := readSmall(filepath.Join(c.project.common, "shallow")); err == nil {
		text["shallow"] = string(shallow)
	}
	for name, content := range text {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// alternate is a line that makes git read objects from another place, too.
func alternate(objects string) string {
	if strings.ContainsAny(objects, "\n\"") || strings.HasPrefix(objects, "#") {
		objects = quote(objects)
	}
	return objects + "\n"
}

// commit returns the commit of a worktree, and its name.
func (c *copying) commit(tree id, head string) ([]byte, id) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	if head != "" {
		fmt.Fprintf(&b, "parent %s\n", head)
	}
	who := fmt.Sprintf("Clearbox <clearbox@localhost> %d +0000", time.Now().Unix())
	message := strings.TrimSpace(strings.ReplaceAll(c.message, "\x00", ""))
	if message == "" {
		message = "The working directory when the step began"
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s\n", who, who, message)
	return b.Bytes(), idOf(kindCommit, b.Bytes())
}

const refsTimeout = time.Minute

// readRefs returns the project's last commit, if it has one, and its branches and
// tags, as a file of packed refs.
func (r *Repo) readRefs(ctx context.Context, p *project) (head, packed string, err error) {
	ctx, cancel := context.WithTimeout(ctx, refsTimeout) // anything may be in place of the files that git reads
	defer cancel()
	out, err := r.git(p.gitDir, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags", "refs/remotes").output(ctx)
	if err != nil {
		return "", "", fmt.Errorf("read the branches of the project: %w", err)
	}
	out2, err := r.git(p.gitDir, "rev-parse", "--verify", "--quiet", "HEAD").output(ctx)
	if ctx.Err() != nil {
		return "", "", ctx.Err()
	}
	if err == nil { // else there is no commit yet
		d, err := parseID(strings.TrimSpace(string(out2)))
		if err != nil {
			return "", "", fmt.Errorf("read the last commit of the project: %w", err)
		}
		head = d.String()
	}
	return head, "# pack-refs with: \n" + string(out), nil
}

// writeLoose writes one object into a repository.
func writeLoose(dir string, d id, k kind, body []byte) error {
	name := d.String()
	path := filepath.Join(dir, "objects", name[:2], name[2:])
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write(header(k, len(body)))
	z.Write(body)
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o444)
}

// encodeGitIndex returns an index that lists files, in version 2 of git's format.
// It tells git how the files look, so that it need not read them to see that they
// are clean.
func encodeGitIndex(files []copied) []byte {
	b := binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x02"), uint32(len(files)))
	for i := range files {
		x, start := &files[i], len(b)
		for _, v := range []int64{x.stat.ctime / 1e9, x.stat.ctime % 1e9, x.stat.mtime / 1e9, x.stat.mtime % 1e9,
			int64(x.stat.dev), int64(x.stat.ino), int64(x.mode), int64(x.uid), int64(x.gid), x.stat.size} {
			b = binary.BigEndian.AppendUint32(b, uint32(v))
		}
		b = append(b, x.id[:]...)
		b = binary.BigEndian.AppendUint16(b, uint16(min(len(x.path), indexNameLen)))
		b = append(b, x.path...)
		b = append(b, make([]byte, 8-(len(b)-start)%8)...)
	}
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}
