package views

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"sync"
	"unicode/utf8"

	"github.com/a-h/templ"
	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// maxMarkdown is how much of a text is laid out as Markdown, in bytes. Longer
// ones are shown as they are: laying them out would take too long.
const maxMarkdown = 100_000

// markdown is built when first needed and read-only from then on.
var markdown = sync.OnceValue(newPress)

// press turns Markdown into HTML that can do no harm.
type press struct {
	md     goldmark.Markdown
	policy *bluemonday.Policy
}

func newPress() *press {
	table := extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))
	return &press{
		md: goldmark.New(
			goldmark.WithExtensions(table, extension.Strikethrough, extension.Linkify, extension.TaskList),
			goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(imageWords{}, 1)))),
		policy: newPolicy(),
	}
}

// newPolicy allows what text needs: no images, since they would tell others who
// reads, no styles, no scripts, no forms, no ids.
func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "code", "em", "strong",
		"del", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("align").Matching(bluemonday.CellAlign).OnElements("th", "td")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
	p.AllowAttrs("checked", "disabled").OnElements("input")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowAttrs("href").OnElements("a")
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
}

// imageWords shows the words of an image instead of the image.
type imageWords struct{}

func (imageWords) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindImage, func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		word := "]"
		if entering {
			word = "[image: "
		}
		_, err := w.WriteString(word)
		return ast.WalkContinue, err
	})
}

func (p *press) html(text string) ([]byte, error) {
	var raw bytes.Buffer
	if err := p.md.Convert([]byte(text), &raw); err != nil {
		return nil, err
	}
	return p.policy.SanitizeBytes(raw.Bytes()), nil
}

// Markdown shows a text that is, or may be, Markdown.
func Markdown(text string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		if len(text) > maxMarkdown {
			_, err := io.WriteString(w, `<pre class="plain">`+templ.EscapeString(text)+`</pre>`)
			return err
		}
		b, err := markdown().html(text)
		if err != nil {
			return err
		}
		if _, err = io.WriteString(w, `<div class="md" dir="auto">`); err == nil {
			if _, err = w.Write(b); err == nil {
				_, err = io.WriteString(w, `</div>`)
			}
		}
		return err
	})
}

// cut shortens a text to at most max bytes, at the border of a character. more
// is how many bytes are missing.
func cut(text string, max int) (short string, more int) {
	if len(text) <= max {
		return text, 0
	}
	for max > 0 && !utf8.RuneStart(text[max]) {
		max--
	}
	return text[:max], len(text) - max
}
