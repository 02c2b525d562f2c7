package main

import (
	"testing"

	skipstone "github.com/skipstone/skipstone/clients/go"
)

func TestEchoAnswersOverBothCarriers(t *testing.T) {
	server, err := skipstone.Listen("127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	url, _ := server.URL()
	address, _ := server.Address()
	served := make(chan error)
	go func() { served <- serve(server, 2) }()
	for _, url := range []string{url, "ws://" + address} {
		if answer, err := ask(url, "is anybody there?"); answer != "is anybody there?" || err != nil {
			t.Fatal(answer, err)
		}
	}
	if err := <-served; err != nil {
		t.Fatal(err)
	}
}
