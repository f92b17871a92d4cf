package views

// glyphs are the shapes of states, drawn around the origin in 16 by 16 units.
// They are short because a graph of thousands of steps repeats them.
var glyphs = map[string]string{
	"pending": `<circle r="5.5" stroke-dasharray="2.3 2.02"/>`,
	"ready":   `<circle r="5.5"/><circle r="2" class="solid"/>`,
	"running": `<circle r="5.5" class="faint"/><path class="spin" d="M0-5.5A5.5 5.5 0 0 1 5.5 0"/>`,
	"done":    `<circle r="6.2" class="solid"/><path class="mark" d="M-2.7.2-.8 2.1 2.8-2"/>`,
	"failed":  `<circle r="6.2" class="solid"/><path class="mark" d="M-2.1-2.1 2.1 2.1M2.1-2.1-2.1 2.1"/>`,
	"skipped": `<circle r="5.5"/><path d="M-3.6 3.6 3.6-3.6"/>`,
	"stopped": `<circle r="5.5"/><path class="solid" d="M-2-2h4v4h-4z"/>`,
	"stalled": `<circle r="5.5"/><path d="M0-2.6V.4M0 2.7v.01"/>`,
	// Verdicts of reviews are bubbles, so that they are no states.
	"review-ok":       `<path d="M-6-5.5H6v8H0L-3.2 5.8V2.5H-6z"/><path d="M-2.6-1.6-.7.3 2.7-3.4"/>`,
	"review-concerns": `<path d="M-6-5.5H6v8H0L-3.2 5.8V2.5H-6z"/><path d="M0-3.6v2.2M0 .4v.01"/>`,
	"review-error":    `<path d="M-6-5.5H6v8H0L-3.2 5.8V2.5H-6z"/><path d="M-1.8-3.4 1.8.4M1.8-3.4-1.8.4"/>`,

	"you": `<circle cy="-2.6" r="2.7"/><path d="M-5 5.6c.5-3 2.3-4.4 5-4.4s4.5 1.4 5 4.4"/>`,
}
