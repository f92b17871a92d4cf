// Package views is what people see: the pages and the pieces that they are made
// of. Beside each template stands its view model, a plain struct that is built
// from a [plan.Snapshot] by a pure function; templates hold no logic beyond
// calling it. What a live update sends is rendered by the very component that
// the page used, so a page that was updated and one that was reloaded agree.
//
// Text of plans, agents and tools is hostile by assumption: it is always escaped,
// and what is Markdown goes through a sanitiser that knows no images, styles or
// scripts.
package views
