package planfile

import (
	"regexp"
	"strconv"
	"strings"
)

// Explain puts lines of the file to what was found wrong with the plan: a sentence,
// or a headline and a list of faults.
func (p *File) Explain(detail string) error {
	headline, list, many := strings.Cut(detail, "\n- ")
	if !many {
		return Faults{p.place(detail)}
	}
	var out Faults
	for fault := range strings.SplitSeq(list, "\n- ") {
		out = append(out, p.place(fault))
	}
	if len(out) > 1 {
		out = append(Faults{p.Name + ": " + headline}, out...)
	}
	return out
}

// place puts file and line before a fault.
func (p *File) place(fault string) string {
	return p.at(p.lineOf(fault)) + ": " + strings.Join(strings.Fields(fault), " ")
}

// The ways in which a server names a part of a plan.
var (
	byIndex     = regexp.MustCompile(`\b(?:nodes|edges)\[\d+\][\w.\[\]]*`)
	byTwice     = regexp.MustCompile(`^duplicate node key '(.*)'$`)
	byKey       = regexp.MustCompile(`^node (?:'(.*?)'|("(?:[^"\\]|\\.)*")): (\w*)`)
	byField     = regexp.MustCompile(`^(?:unknown field "(\w+)"|(?:plan: )?(\w+))`)
	lastSegment = regexp.MustCompile(`(\.\w+|\[\d+\])$`)
)

// lineOf returns the line that a fault is about, 0 when that is not known.
func (p *File) lineOf(fault string) int {
	if m := byTwice.FindStringSubmatch(fault); m != nil && len(p.nodes[m[1]]) > 1 {
		return p.lineAt(nodeField(p.nodes[m[1]][1], "key"))
	}
	if m := byKey.FindStringSubmatch(fault); m != nil {
		key := m[1]
		if m[2] != "" {
			key, _ = strconv.Unquote(m[2])
		}
		if at := p.nodes[key]; len(at) > 0 {
			return p.lineAt(nodeField(at[0], m[3]))
		}
	}
	if path := byIndex.FindString(fault); path != "" {
		return p.lineAt(path)
	}
	if m := byField.FindStringSubmatch(fault); m != nil {
		return p.lines[m[1]+m[2]]
	}
	return 0
}

func nodeField(index int, name string) string {
	return "nodes[" + strconv.Itoa(index) + "]." + name
}

// lineAt returns the line of a path, or of what is nearest around it.
func (p *File) lineAt(path string) int {
	for path != "" {
		if line := p.lines[strings.TrimSuffix(path, ".")]; line > 0 {
			return line
		}
		shorter := lastSegment.ReplaceAllString(strings.TrimSuffix(path, "."), "")
		if shorter == path {
			break
		}
		path = shorter
	}
	return 0
}
