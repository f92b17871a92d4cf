package plugin

import (
	"context"
	"strings"
	"testing"
)

func BenchmarkChecked(b *testing.B) {
	for _, tt := range []struct {
		name string
		e    Event
	}{
		{"text of 200 bytes", Text(strings.Repeat("words ", 33), "")},
		{"tool result of 6 KB", ToolResult("toolu_1", strings.Repeat("a line of code\n", 400), false, "")},
	} {
		b.Run(tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(tt.e.Data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := checked(tt.e); !ok {
					b.Fatal("dropped")
				}
			}
		})
	}
}

func BenchmarkFollow(b *testing.B) {
	text := strings.Repeat("words ", 33)
	n := b.N
	s := Local(running(func(_ context.Context, h Host) (Result, error) {
		for range n {
			h.Emit(Text(text, ""))
		}
		return Result{}, nil
	}), aTask())
	defer s.Close()
	if _, err := s.Follow(b.Context(), 0, &recorder{}); err != nil {
		b.Fatal(err)
	}
}
