package main

// sizes say how much of everything a run does.
type sizes struct {
	rounds int

	slices    int // into which the pairs of a round are cut, see pairs.go
	pairsOne  int // claim and complete pairs of one slice with one client
	pairsMany int // and with eight
	enginePar int // pairs of one call of the engine's benchmark

	submits int // plans submitted each way
	reads   int // answers read each way

	flood       int // events of a flood
	floodWide   int // and of one that many subscribers follow
	subscribers int
	reports     int // of all clients together
	talk        int // seconds that harnesses emit steadily

	changes  int // completions that a browser watches
	bigGraph int // steps of the large graph that is watched; 0: none

	database int // bytes of the database that is started with
	starts   int

	launches int
	mock     int // steps of the plan that the mock agent plays
}

var fullSizes = sizes{rounds: 5, slices: 4, pairsOne: 100, pairsMany: 300, enginePar: 2000, submits: 4, reads: 30,
	flood: 60_000, floodWide: 20_000, subscribers: 100, reports: 4000, talk: 10, changes: 60, bigGraph: 2000,
	database: 200 << 20, starts: 3, launches: 30, mock: 200}

var quickSizes = sizes{rounds: 2, slices: 2, pairsOne: 20, pairsMany: 60, enginePar: 200, submits: 2, reads: 5,
	flood: 10_000, floodWide: 3_000, subscribers: 100, reports: 400, talk: 2, changes: 10,
	database: 20 << 20, starts: 1, launches: 5, mock: 40}
