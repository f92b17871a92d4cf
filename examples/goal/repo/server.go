package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// maxNote is how long a note may be, in bytes.
const maxNote = 1000

// newServer answers the requests of the service.
func newServer() http.Handler {
	s := &store{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /notes", s.list)
	mux.HandleFunc("POST /notes", s.add)
	return mux
}

func (s *store) list(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.all())
}

func (s *store) add(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxNote))
	text := strings.TrimSpace(string(body))
	if err != nil || text == "" {
		http.Error(w, "a note has 1 to 1000 bytes", http.StatusBadRequest)
		return
	}
	writeJSON(w, http.StatusCreated, s.keep(text))
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // fails only when the client is gone
}
