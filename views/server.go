package views

// ServerURL is the page of settings.
const ServerURL = "/settings"

// ServerPage is the page of what is set for the whole server.
type ServerPage struct{}
