package handlers

import "strings"

// faultField finds which of some fields a line of an error is about, the longest
// where several match, and puts the rule into words for who is looking at the field.
// A line says the field first, or after what has it: "title must …", "step: title
// must …", "plan: 30 acceptance_criteria are …", "params.effort: …".
func faultField(line string, names []string) (name, rule string) {
	rest := strings.TrimPrefix(strings.TrimSpace(line), "- ")
	for more := true; more && name == ""; _, rest, more = strings.Cut(rest, ": ") {
		count, after := cutCount(rest)
		for _, n := range names {
			if len(n) <= len(name) {
				continue
			}
			if r, ok := ruleOf(after, n); ok {
				name, rule = n, r
				if count != "" {
					rule = rest
				}
			}
		}
	}
	return name, rule
}

// cutCount takes a number from before the field that it counts.
func cutCount(text string) (count, after string) {
	if i := strings.IndexFunc(text, func(c rune) bool { return c < '0' || c > '9' }); i > 0 && text[i] == ' ' {
		return text[:i], text[i+1:]
	}
	return "", text
}

// ruleOf is what a text says of a field, if it begins with that.
func ruleOf(text, name string) (rule string, ok bool) {
	after, found := strings.CutPrefix(text, name)
	if !found || after == "" {
		return "", false
	}
	switch after[0] {
	case ':':
		return strings.TrimSpace(after[1:]), true
	case ' ':
		return "this" + after, true
	case '.', '[': // a part of it
		return text, true
	}
	return "", false
}
