package timesheet

import (
	"fmt"
	"strings"
	"time"
)

// Entry is one piece of work. Start and End are minutes since midnight.
type Entry struct {
	Date       time.Time
	Start, End int
	Client     string
	Note       string
}

// ParseEntry reads a line such as "2026-03-02 09:00-10:30 acme planning".
func ParseEntry(line string) (Entry, error) {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return Entry{}, fmt.Errorf("entry %q: it needs a date, a time and a client", line)
	}
	date, err := time.Parse(time.DateOnly, fields[0])
	if err != nil {
		return Entry{}, fmt.Errorf("entry %q: the date is not like 2026-03-02", line)
	}
	from, to, ok := strings.Cut(fields[1], "-")
	start, err1 := time.Parse("15:04", from)
	end, err2 := time.Parse("15:04", to)
	if !ok || err1 != nil || err2 != nil {
		return Entry{}, fmt.Errorf("entry %q: the time is not like 09:00-10:30", line)
	}
	return Entry{
		Date: date, Start: start.Hour()*60 + start.Minute(), End: end.Hour()*60 + end.Minute(),
		Client: fields[2], Note: strings.Join(fields[3:], " "),
	}, nil
}

// Minutes is the length of the entry.
func (e Entry) Minutes() int {
	return e.End - e.Start
}
