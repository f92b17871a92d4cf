package views

import "unicode"

// Sizes of cards in pixels. A card is as wide as its title needs, within bounds;
// a title that is still too long is set smaller, and then cut by the browser.
const (
	cardHeight  = 88.0
	cardPadding = 28.0 // left and right of the title together
	titleSize   = 13.0 // of the title's font
	smallTitle  = 11.5
)

var cardWidths = []float64{192, 228, 268}

// fit chooses the width of a card for a title in two lines, and whether the title
// has to be set smaller.
func fit(title string) (width float64, small bool) {
	long := textWidth(title)
	for _, w := range cardWidths {
		// Words do not break where it would be best: a tenth is lost.
		if long*titleSize <= 2*0.9*(w-cardPadding) {
			return w, false
		}
	}
	return cardWidths[len(cardWidths)-1], true
}

// textWidth estimates how wide a text is, in units of the font's size.
func textWidth(text string) float64 {
	sum := 0.0
	for _, r := range text {
		sum += runeWidth(r)
	}
	return sum
}

func runeWidth(r rune) float64 {
	switch {
	case r < ' ' || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Cf, r):
		return 0
	case r == ' ':
		return 0.28
	case r < 0x7f:
		return asciiWidth(r)
	case r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60):
		return 1
	case r >= 0x1f000:
		return 1.35
	}
	return 0.6
}

func asciiWidth(r rune) float64 {
	switch {
	case r == 'i' || r == 'l' || r == 'j' || r == '.' || r == ',' || r == ':' || r == '\'' || r == '|' || r == '!':
		return 0.28
	case r == 'f' || r == 't' || r == 'r' || r == '(' || r == ')' || r == '[' || r == ']' || r == '-' || r == '/' || r == 'I':
		return 0.38
	case r == 'm' || r == 'w' || r == 'M' || r == 'W' || r == '@' || r == '%':
		return 0.9
	case r >= 'A' && r <= 'Z':
		return 0.7
	}
	return 0.57
}
