package plan

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPathLen bounds a declared path, in bytes; no file system takes longer ones.
const maxPathLen = 4096

// FileKey normalises a declared path to what is compared: slashes forward,
// empty and "." segments dropped, ".." resolved by name alone, case folded. A
// directory's key is that of its path without the trailing slash. Absolute
// paths, those that leave the working directory and the directory itself are
// Invalid.
func FileKey(path string) (string, error) {
	switch {
	case strings.TrimSpace(path) == "":
		return "", Errorf(Invalid, "files: an empty path is not allowed; name a file or folder inside the working directory")
	case len(path) > maxPathLen:
		return "", Errorf(Invalid, "files: a path of %d bytes is too long; the limit is %d", len(path), maxPathLen)
	case strings.ContainsRune(path, 0):
		return "", Errorf(Invalid, "files: %q has a NUL character; name a file inside the working directory", path)
	case !utf8.ValidString(path):
		return "", Errorf(Invalid, "files: %q is not valid UTF-8", path)
	}
	p := strings.ReplaceAll(path, `\`, "/")
	if strings.HasPrefix(p, "/") || hasDrive(p) {
		return "", absolute(path)
	}
	var out []string
	for seg := range strings.SplitSeq(p, "/") {
		switch seg {
		case "", ".":
		case "..":
			if len(out) == 0 {
				return "", Errorf(Invalid, "files: %q escapes the working directory", path)
			}
			out = out[:len(out)-1]
		default:
			out = append(out, seg)
		}
	}
	key := fold(strings.Join(out, "/"))
	switch {
	case key == "":
		return "", Errorf(Invalid, "files: %q is the working directory itself; name what in it will change", path)
	case strings.TrimSpace(key) == "":
		return "", Errorf(Invalid, "files: %q is empty but for spaces; name a file or folder inside the working directory", path)
	case hasDrive(key): // as in ./C:/x
		return "", absolute(path)
	}
	return key, nil
}

func absolute(path string) error {
	return Errorf(Invalid, "files: %q is absolute; paths are relative to the working directory", path)
}

func hasDrive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z'
}

// fold maps letters that differ only by case to one of them, so that keys are
// equal exactly when strings.EqualFold says so.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII {
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			return r
		}
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		if 'A' <= least && least <= 'Z' {
			least += 'a' - 'A'
		}
		return least
	}, s)
}

// ParseFiles turns declared paths into files: duplicates by key collapse to the
// first spelling, ordered by key. All faults are reported.
func ParseFiles(paths []string) ([]File, error) {
	var bad Problems
	files := make([]File, 0, len(paths))
	for _, p := range paths {
		key, err := FileKey(p)
		if err != nil {
			bad.Add(err)
			continue
		}
		files = append(files, File{Path: p, Key: key})
	}
	if bad.Len() == 1 {
		return nil, &Error{Kind: Invalid, Msg: bad.list[0]}
	}
	if err := bad.Err("the file list has faults:"); err != nil {
		return nil, err
	}
	slices.SortStableFunc(files, func(a, b File) int { return strings.Compare(a.Key, b.Key) })
	return slices.CompactFunc(files, func(a, b File) bool { return a.Key == b.Key }), nil
}

// KeysConflict reports whether two keys name the same file, or one is a folder
// that holds the other.
func KeysConflict(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return strings.HasPrefix(b, a) && (len(a) == len(b) || b[len(a)] == '/')
}

// SharedFiles returns the paths that two nodes both claim: of each conflicting
// pair the narrower path, in the spelling of mine when the keys are equal. The
// result is ordered by key and has no duplicates.
func SharedFiles(mine, theirs []File) []string {
	shared := map[string]string{}
	for _, m := range mine {
		for _, t := range theirs {
			switch {
			case !KeysConflict(m.Key, t.Key):
			case len(m.Key) >= len(t.Key):
				shared[m.Key] = m.Path
			default:
				if _, ok := shared[t.Key]; !ok {
					shared[t.Key] = t.Path
				}
			}
		}
	}
	keys := make([]string, 0, len(shared))
	for k := range shared {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for i, k := range keys {
		keys[i] = shared[k]
	}
	return keys
}
