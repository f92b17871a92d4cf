package shadow

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seen is what git would add of a folder, or has already.
func seen(t testing.TB, dir string) []string {
	t.Helper()
	out := git(t, dir, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	list = slices.DeleteFunc(list, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return name == "" || err != nil
	})
	slices.Sort(list)
	return slices.Compact(list)
}

var (
	pathParts = []string{"a", "b", "ab", "a.b", "foo", "bar", "foo.o", "Foo", "-x", "a b", "x[1]", "b\\c", "!a", "#a", "é"}
	ruleParts = []string{"a", "b", "foo", "bar", "*", "**", "?", "*.o", "a*", "*b", "f?o", "[ab]", "[!a]", "[^a-f]oo", "[[:alpha:]]", "[[:upper:]]oo",
		"[a-", "[[:nope:]]", "\\a", "\\!a", "\\#a", "x\\[1\\]", "x[[]1]", "b\\\\c", "a\\ b", "a b", "foo**", "**foo", "***", "a**b", "*.*", "é", "[]a]", "[a-]",
		"[--b]", "trail\\", "[/]", "\\*", "[[:space:]]", "[b-a]", "[\\a]"}
)

func randomPath(r *rand.Rand) string {
	parts := make([]string, 1+r.IntN(4))
	for i := range parts {
		parts[i] = pathParts[r.IntN(len(pathParts))]
	}
	return strings.Join(parts, "/")
}

func randomRules(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(5) {
		if r.IntN(3) == 0 {
			b.WriteByte('!')
		}
		if r.IntN(4) == 0 {
			b.WriteByte('/')
		}
		for i := range 1 + r.IntN(3) {
			if i > 0 {
				b.WriteByte('/')
			}
			b.WriteString(ruleParts[r.IntN(len(ruleParts))])
		}
		ends := []string{"\n", "\n", "\n", "/\n", "/\n", " \n", "\r\n", "\t\n", "\\ \n", "//\n", "", "\n\n# word\n"}
		b.WriteString(ends[r.IntN(len(ends))])
	}
	return b.String()
}

// randomTree fills a folder of a repository. It returns the folders in it, and what
// is to be tracked, both as paths of the repository.
func randomTree(r *rand.Rand, dir, sub string) (folders, add []string) {
	folders = []string{sub}
	for range 30 {
		path := sub + "/" + randomPath(r)
		if os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755) != nil {
			continue // a file is in the way
		}
		if r.IntN(8) == 0 {
			_ = os.Symlink("a", filepath.Join(dir, path))
		} else {
			_ = os.WriteFile(filepath.Join(dir, path), []byte(path), 0o644)
		}
		folder := filepath.Join(dir, filepath.Dir(path))
		if real, _ := filepath.EvalSymlinks(folder); real != folder {
			continue // through a link
		}
		if r.IntN(4) == 0 {
			add = append(add, path)
		}
		folders = append(folders, filepath.Dir(path))
	}
	for _, f := range folders {
		if r.IntN(3) == 0 || f == sub {
			_ = os.WriteFile(filepath.Join(dir, f, ".gitignore"), []byte(randomRules(r)), 0o644)
		}
	}
	return folders, add
}

// TestRulesAreThoseOfGit compares what git sees with what snapshots have. The trees
// of a repository are beside each other, so that git is asked about all at once.
func TestRulesAreThoseOfGit(t *testing.T) {
	const repositories, trees = 4, 6
	for seed := range uint64(repositories) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd, dir, r := rand.New(rand.NewPCG(seed, 1)), t.TempDir(), openRepo(t, Options{})
			gitInit(t, dir)
			write(t, dir, map[string]string{".git/info/exclude": randomRules(rnd)})
			var folders [][]string
			args := []string{"--literal-pathspecs", "add", "-f", "--"}
			for i := range trees {
				f, add := randomTree(rnd, dir, fmt.Sprintf("t%d", i))
				folders, args = append(folders, f), append(args, add...)
			}
			git(t, dir, args...)
			for round := range 2 {
				if d := cmp.Diff(seen(t, dir), names(listed(t, r, snap(t, r, dir)))); d != "" {
					t.Errorf("round %d: git sees (-), a snapshot has (+):\n%s", round, d)
				}
				for _, f := range folders { // again, with rules that change under the cache
					_ = os.WriteFile(filepath.Join(dir, f[rnd.IntN(len(f))], ".gitignore"), []byte(randomRules(rnd)), 0o644)
				}
			}
			for _, f := range folders[:2] {
				sub := filepath.Join(dir, f[rnd.IntN(len(f))])
				if want := seen(t, sub); len(want) > 0 && !ignoredByGit(t, dir, sub) {
					if d := cmp.Diff(want, names(listed(t, r, snap(t, r, sub)))); d != "" {
						t.Errorf("below %s: git sees (-), a snapshot has (+):\n%s", sub, d)
					}
				}
			}
		})
	}
}

// ignoredByGit reports whether the rules leave out a folder, whatever is tracked
// in it.
func ignoredByGit(t *testing.T, dir, sub string) bool {
	rel, err := filepath.Rel(dir, sub)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "check-ignore", "--no-index", "-z", "--stdin")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(rel)
	return cmd.Run() == nil
}
