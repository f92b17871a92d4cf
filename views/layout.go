package views

import (
	"github.com/a-h/templ"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Assets are the addresses of the files that pages load.
type Assets struct{ CSS, Pages, Changes, Boot, App, Watch, Htmx, Worker, Icon, Marked string }

// Shell is what is around every page.
type Shell struct {
	Title   string
	Version string
	Assets  Assets
	Now     plan.Stamp // of the server: scripts count times from it
	Sidebar Sidebar
	Page    templ.Component
}

func (s *Shell) title() string {
	if s.Title == "" {
		return "Clearbox"
	}
	return s.Title + " · Clearbox"
}

// htmxConfig: history and styles are our own business, and the refusals that htmx
// would swap into the middle of a page go where the form says.
const htmxConfig = `{"history":false,"includeIndicatorCSS":false,"defaultSettleDelay":0}`
