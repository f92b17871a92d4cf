package views

import "github.com/a-h/templ"

// Piece is a part of a page that changes by itself: what a live update sends when
// it looks different from before.
type Piece struct {
	ID    string // of the element that it is
	In    string // the element that it is added to where the page has none of that id
	First bool   // it is added before the others there
	Once  bool   // it never changes: where it is there already it stays as it is
	SVG   bool   // it is part of a drawing
	Body  templ.Component
}

// GonePieces say that what a page shows is no more: its plan, or the step that is
// open on it.
func GonePieces(planToo bool) []Piece {
	if planToo {
		return []Piece{{ID: "page", Body: GoneView()}}
	}
	return []Piece{{ID: "drawer", Body: DrawerView(nil)}, {ID: "node-full", Body: GoneNode()}}
}
