package views

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// reportPrefix begins the ids of a report; no other id is kept.
const reportPrefix = "r-"

// inert copies HTML of ours without all that could load or do something: what is
// not in the lists below is dropped, links lead to the steps of the report or to
// the web. Pages escape what they show; this is what a report relies on beside that.
func inert(w io.Writer, from io.Reader) error {
	z := html.NewTokenizer(from)
	skip := "" // the element that is being left out
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			if err := z.Err(); !errors.Is(err, io.EOF) {
				return err
			}
			return nil
		case html.CommentToken, html.DoctypeToken:
			continue
		}
		raw := slices.Clone(z.Raw()) // reading the tag changes it
		if kind == html.TextToken {
			if skip == "" {
				if _, err := w.Write(raw); err != nil {
					return err
				}
			}
			continue
		}
		t := z.Token()
		switch {
		case skip != "":
			if kind == html.EndTagToken && t.Data == skip {
				skip = ""
			}
		case dropped[t.Data] && kind == html.StartTagToken:
			skip = t.Data
		case kept[t.Data]:
			if _, err := io.WriteString(w, plainTag(t)); err != nil {
				return err
			}
		}
	}
}

var (
	kept = setOf("a b bdi blockquote br caption circle code col colgroup dd del details div dl dt em footer foreignobject g h1 h2 h3 h4 h5 h6 header hr i ins " +
		"li main mark nav ol p path pre rect section small span strong summary svg symbol table tbody td th thead time title tr ul use")
	dropped   = setOf("script style iframe object form button select textarea template noscript")
	keptAttrs = setOf("align aria-hidden aria-label class colspan cx cy d datetime dir height id lang open r role rx scope start stroke-dasharray title transform viewbox " +
		"width x y")
)

func setOf(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// plainTag writes a tag with the attributes that are kept.
func plainTag(t html.Token) string {
	attrs := t.Attr[:0]
	for _, a := range t.Attr {
		switch {
		case a.Key == "href":
			if a.Val = reportLink(t.Data, a.Val); a.Val == "" {
				continue
			}
		case !keptAttrs[a.Key], a.Key == "id" && !strings.HasPrefix(a.Val, reportPrefix) && t.Data != "symbol":
			continue
		}
		attrs = append(attrs, a)
	}
	t.Attr = attrs
	return t.String()
}

var stepPath = regexp.MustCompile(`^/plans/(\d+)/nodes/(\d+)(?:\?[^#]*)?$`)

// reportLink is where a link of a page leads to in a report, "" for nowhere.
func reportLink(tag, href string) string {
	if tag == "use" {
		if strings.HasPrefix(href, "#i-") {
			return href
		}
		return ""
	}
	if m := stepPath.FindStringSubmatch(href); m != nil {
		return "#" + reportPrefix + m[1] + "-" + m[2]
	}
	for _, scheme := range []string{"https://", "http://", "mailto:", "#" + reportPrefix} {
		if strings.HasPrefix(strings.ToLower(href), scheme) {
			return href
		}
	}
	return ""
}
