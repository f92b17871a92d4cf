package views

// StartPage tells how to begin.
type StartPage struct{ Clients []Client }

// Client is a program that can be connected, and how.
type Client struct {
	ID, Name, How string
	Code          string
}
