package main

import (
	"fmt"
	"io"
	"strings"
)

// column is one column of a table on the terminal.
type column struct {
	title string
	most  int // columns that it may take; 0 for any number
	right bool
}

// printTable writes rows under each other. On a terminal the last column is cut
// so that every row stays one line.
func printTable(w io.Writer, columns []column, rows [][]string) {
	widths := make([]int, len(columns))
	all := rows
	if columns[0].title != "" {
		all = append([][]string{titles(columns)}, rows...)
	}
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], widthOf(cell))
			if most := columns[i].most; most > 0 {
				widths[i] = min(widths[i], most)
			}
		}
	}
	room, _, limited := terminalSize(w)
	for _, row := range all {
		line := strings.TrimRight(joinCells(columns, widths, row), " ")
		if limited {
			line = cut(line, room)
		}
		fmt.Fprintln(w, line)
	}
}

func joinCells(columns []column, widths []int, row []string) string {
	var b strings.Builder
	for i, cell := range row {
		switch {
		case columns[i].right:
			b.WriteString(strings.Repeat(" ", max(0, widths[i]-widthOf(cell))) + cell)
		case i == len(row)-1:
			b.WriteString(cell)
		default:
			b.WriteString(pad(cell, widths[i]))
		}
		b.WriteString("  ")
	}
	return b.String()
}

func titles(columns []column) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.title
	}
	return out
}
