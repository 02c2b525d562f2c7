// Command echo is the smallest server, which sends every message back, and the smallest client, which sends one
// message.
package main

import (
	"errors"
	"fmt"
	"log"
	"time"

	skipstone "github.com/skipstone/skipstone/clients/go"
)

// One server on one port, and two clients that connect by UDP and by WebSocket.
func main() {
	server, err := skipstone.Listen("127.0.0.1:0", nil)
	if err != nil {
		log.Fatal(err)
	}
	url, err := server.URL()
	if err != nil {
		log.Fatal(err)
	}
	address, err := server.Address()
	if err != nil {
		log.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- serve(server, 2) }()
	for _, url := range []string{url, "ws://" + address} {
		answer, err := ask(url, "hello over "+url[:4])
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(answer)
	}
	if err := <-served; err != nil {
		log.Fatal(err)
	}
}

// serve sends every message back, until this number of clients has connected and left.
func serve(server *skipstone.Server, visits int) error {
	defer server.Close()
	for visits > 0 {
		// An echo answers at the first event. A game calls WaitTick, which runs at a fixed rate, and then Poll(0).
		events, err := server.Poll(10 * time.Millisecond)
		for i := range events {
			switch event := &events[i]; event.Kind {
			case skipstone.Requested:
				err = errors.Join(err, server.Accept(event.Peer))
			case skipstone.Message:
				_, sent := server.Send(event.Peer, event.Channel, event.Payload)
				err = errors.Join(err, sent)
			case skipstone.Closed:
				visits--
			}
		}
		if err = errors.Join(err, server.Flush()); err != nil {
			return err
		}
	}
	return nil
}

// ask sends a text and returns the answer.
func ask(url, text string) (string, error) {
	client, err := skipstone.Dial(url, nil, nil)
	if err != nil {
		return "", err
	}
	defer client.Close()
	for {
		events, err := client.Poll(100 * time.Millisecond)
		if err != nil {
			return "", err
		}
		for i := range events {
			switch event := &events[i]; event.Kind {
			case skipstone.Connected:
				if _, err := client.Send(0, []byte(text)); err != nil {
					return "", err
				}
			case skipstone.Message:
				return string(event.Payload), nil
			case skipstone.Closed:
				return "", errors.New(event.Close.Reason)
			}
		}
	}
}
