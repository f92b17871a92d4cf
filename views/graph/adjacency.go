package graph

// adjacency maps a small number to a list of others, all in one array.
type adjacency struct {
	start []int32
	item  []int32
}

func (l adjacency) of(i int32) []int32 { return l.item[l.start[i]:l.start[i+1]] }

// gather lists, for every key below n, the numbers i below count with that key,
// ascending. Numbers with a negative key are in no list.
func gather(n, count int, key func(i int) int32) adjacency {
	l := adjacency{start: make([]int32, n+2)}
	total := 0
	for i := range count {
		if k := key(i); k >= 0 {
			l.start[k+2]++
			total++
		}
	}
	for i := 2; i < len(l.start); i++ {
		l.start[i] += l.start[i-1]
	}
	// start[k+1] now is where list k begins; filling moves it to where it
	// ends, which is where list k+1 begins.
	l.item = make([]int32, total)
	for i := range count {
		if k := key(i); k >= 0 {
			l.item[l.start[k+1]] = int32(i)
			l.start[k+1]++
		}
	}
	l.start = l.start[:n+1]
	return l
}

// clusters is a union-find over small numbers. The root of a cluster is its
// lowest member, so roots do not depend on the order of the joins.
type clusters []int32

func newClusters(n int) clusters {
	c := make(clusters, n)
	for i := range c {
		c[i] = int32(i)
	}
	return c
}

func (c clusters) root(i int32) int32 {
	for c[i] != i {
		c[i] = c[c[i]]
		i = c[i]
	}
	return i
}

func (c clusters) join(a, b int32) {
	a, b = c.root(a), c.root(b)
	if a < b {
		c[b] = a
	} else {
		c[a] = b
	}
}
