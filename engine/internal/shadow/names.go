package shadow

import (
	"strings"
	"unicode/utf8"
)

// isExcluded reports whether what has this name is never looked at, at any
// depth. A regular file may have any name but .git.
func isExcluded(name string, folderOrLink bool) bool {
	switch name {
	case ".git", ".hg", ".svn":
		return true
	case "node_modules", "__pycache__", ".venv", "venv", ".mypy_cache", ".pytest_cache":
		return folderOrLink
	}
	return strings.HasPrefix(name, stagePrefix)
}

// stagePrefix begins the names of files that are about to be put in place.
const stagePrefix = ".clearbox-apply-"

// isGitDir reports whether git on some system takes the name for .git: another
// case, a short name of Windows, trailing dots and spaces, a stream, or letters
// that the file systems of macOS skip.
func isGitDir(name string) bool {
	if name == "" || !strings.ContainsRune(".gG", rune(name[0])) && name[0] < utf8.RuneSelf {
		return false // the most of all names, without a closer look
	}
	return likeOnWindows(name) || strings.EqualFold(strings.Map(dropSkipped, name), ".git")
}

func likeOnWindows(name string) bool {
	if i := strings.IndexAny(name, `\:`); i >= 0 {
		name = name[:i]
	}
	name = strings.TrimRight(name, " .")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}

// dropSkipped removes what HFS+ leaves out when it compares names.
func dropSkipped(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

// isGitMeta reports whether git reads the file for settings: a link in its place
// could make it read something else.
func isGitMeta(name string) bool {
	switch strings.ToLower(name) {
	case ".gitattributes", ".gitignore", ".gitmodules":
		return true
	}
	return false
}

// display returns the path as people are shown it: quoted as git does it when it
// has control characters or bytes that are no UTF-8, else as it is. No path that
// needs no quotes begins with one, so two paths are never shown alike.
func display(path string) string {
	if !needsQuotes(path) {
		return path
	}
	return quote(path)
}

func needsQuotes(path string) bool {
	if strings.HasPrefix(path, `"`) || !utf8.ValidString(path) {
		return true
	}
	return strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// quote writes a path as a C string.
func quote(path string) string {
	const letters = "\aa\bb\tt\nn\vv\ff\rr\"\"\\\\"
	var b strings.Builder
	valid := utf8.ValidString(path)
	b.WriteByte('"')
	for i := range len(path) {
		c := path[i]
		j := strings.IndexByte(letters, c)
		switch {
		case j >= 0 && j%2 == 0:
			b.WriteByte('\\')
			b.WriteByte(letters[j+1])
		case c < ' ' || c == 0x7f || c >= utf8.RuneSelf && !valid:
			b.WriteByte('\\')
			b.WriteByte('0' + c>>6)
			b.WriteByte('0' + c>>3&7)
			b.WriteByte('0' + c&7)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
