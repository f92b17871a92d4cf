package graph

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

var (
	update   = flag.Bool("update", false, "rewrite the pictures in testdata")
	pictures = flag.String("pictures", "", "write pictures of all typical plans, large ones too, into this folder")
)

// svg draws a layout for people.
func svg(l *Layout) string {
	var b strings.Builder
	const margin = 20
	w, h := l.Width+2*margin, l.Height+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="%d %d %g %g" width="%g" height="%g">`+"\n", -margin, -margin, w, h, w, h)
	fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%g" height="%g" fill="#fff"/>`+"\n", -margin, -margin, w, h)
	for _, p := range l.Edges {
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="#678" stroke-width="2"/>`+"\n", p.D)
	}
	for _, p := range l.Ties {
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="#b60" stroke-width="2" stroke-dasharray="6 5"/>`+"\n", p.D)
	}
	for _, x := range l.Boxes {
		fmt.Fprintf(&b, `<rect x="%g" y="%g" width="%g" height="%g" rx="8" fill="#eef" stroke="#446"/>`, x.X, x.Y, x.W, x.H)
		fmt.Fprintf(&b, `<text x="%g" y="%g" font-size="28" text-anchor="middle">%d</text>`+"\n", x.centreX(), x.centreY()+10, x.ID)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// TestPictures compares small typical plans with pictures that people looked
// at and liked. After a change, run with -update and look again.
func TestPictures(t *testing.T) {
	plans := gallery()
	for _, name := range []string{"conflict", "fan20", "parts", "phases", "pipelines", "review", "skips", "ties", "tree", "web"} {
		t.Run(name, func(t *testing.T) {
			got := svg(Arrange(plans[name]))
			file := filepath.Join("testdata", name+".svg")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(string(want), got); diff != "" {
				t.Errorf("another picture (-want +got):\n%s", diff)
			}
		})
	}
	if *pictures != "" {
		for name, in := range plans {
			if err := os.WriteFile(filepath.Join(*pictures, name+".svg"), []byte(svg(Arrange(in))), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
