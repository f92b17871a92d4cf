package views

import (
	"context"
	"html"
	"io"
	"strconv"

	"github.com/a-h/templ"
)

// timelineBars draws the bars of a step. A plan of thousands of steps has many:
// they are written by hand, as the graph is.
func timelineBars(r *TimelineRow) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		b := make([]byte, 0, 160+len(r.bars)*72)
		b = append(b, `<svg class="tl-bars" role="img" aria-label="`...)
		b = append(b, html.EscapeString(r.label())...)
		b = append(b, `">`...)
		for i := range r.bars {
			b = r.bars[i].append(b)
		}
		_, err := w.Write(append(b, `</svg>`...))
		return err
	})
}

// barBoxes are the top and the height of bars: what was done is thicker than
// what was waited for.
func barBox(class string) (top, height string) {
	switch class {
	case "tl-" + spanDepends:
		return "12", "2"
	case "tl-" + spanSub:
		return "11", "4"
	case "tl-" + spanFiles, "tl-" + spanSlot, "tl-" + spanLimit, "tl-" + spanBudget, "tl-" + spanPerson:
		return "9", "8"
	}
	return "5", "16"
}

func (x *bar) append(b []byte) []byte {
	top, height := barBox(x.class)
	b = append(append(b, `<rect class="`...), x.class...)
	b = appendPercent(append(b, `" x="`...), x.x)
	b = append(append(b, `" y="`...), top...)
	b = append(append(b, `" height="`...), height...)
	b = appendPercent(append(b, `" width="`...), x.w)
	if x.from != 0 {
		b = strconv.AppendFloat(append(b, `" data-from="`...), float64(x.from), 'f', 3, 64)
	}
	return append(b, `"/>`...)
}

func appendPercent(b []byte, f float64) []byte {
	return append(strconv.AppendFloat(b, f, 'f', 3, 64), '%')
}

// percent writes a part of the axis.
func percent(f float64) string { return string(appendPercent(nil, f)) }

// timelineMarks draws the lines of the axis with what they say.
func timelineMarks(s scale) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		b := []byte(`<svg class="tl-marks" aria-hidden="true">`)
		for _, m := range s.marks() {
			x := percent(m.x)
			late := ""
			if m.x > 78 { // where there is little room, what it says would be cut
				late = ` class="late"`
			}
			b = append(b, `<line x1="`+x+`" x2="`+x+`" y1="20" y2="28"/><text`+late+` x="`+x+`" dx="3" y="18">`+m.words+`</text>`...)
		}
		_, err := w.Write(append(b, `</svg>`...))
		return err
	})
}

// seconds writes a length of time for scripts.
func seconds(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) }
