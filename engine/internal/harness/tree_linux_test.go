package harness

import "testing"

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("7 (a) b) S 3 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0"))
	f.Add([]byte(""))
	f.Add([]byte(")"))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := parseStat(7, in)
		if err == nil && s.pid != 7 {
			t.Fatalf("got %+v", s)
		}
	})
}

func TestParseStat(t *testing.T) {
	got, err := parseStat(7, []byte("7 (a) b) Z 3 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0\n"))
	want := stat{pid: 7, parent: 3, start: 4711, dead: true}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}
