// Command notes keeps short notes in memory and serves them over HTTP.
package main

import (
	"flag"
	"log"
	"net/http"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen on")
	flag.Parse()
	log.Fatal(http.ListenAndServe(*addr, newServer()))
}
