package views

import (
	"regexp"
	"strings"
)

// mostFindings is how many findings of a review can be made steps one by one.
const mostFindings = 40

// Finding is one thing that a review found.
type Finding struct {
	Text  string // Markdown
	Short string // its first line
}

var itemStart = regexp.MustCompile(`^ ?(?:[-*+]|\d{1,3}[.)])\s+`)

// findingsOf takes the findings of a review apart: the items of its outermost list,
// each with what is indented beneath it; where it has no list, the whole is one.
func findingsOf(text string) []Finding {
	var items []string
	open := false
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.TrimRight(line, "\r\n")
		switch start := itemStart.FindString(line); {
		case start != "":
			items, open = append(items, line[len(start):]), true
		case open && (line == "" || line[0] == ' ' || line[0] == '\t' || !strings.HasSuffix(items[len(items)-1], "\n")):
			items[len(items)-1] += "\n" + strings.TrimPrefix(strings.TrimPrefix(line, "  "), "\t")
		default:
			open = false // text between lists
		}
	}
	if len(items) == 0 && strings.TrimSpace(text) != "" {
		items = []string{text}
	}
	list := make([]Finding, 0, len(items))
	for _, item := range items[:min(len(items), mostFindings)] {
		item = strings.TrimSpace(item)
		list = append(list, Finding{item, strings.NewReplacer("`", "", "**", "").Replace(firstLine(item, 140))})
	}
	return list
}
