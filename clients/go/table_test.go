package skipstone

import (
	"testing"
	"time"
)

// table is a server and its clients in one goroutine, stepped in turns, without sockets or threads. Every event is
// kept.
type table struct {
	t        *testing.T
	server   *Server
	clients  []*Client
	atServer []Event
	atClient map[*Client][]Event
	// refuses leaves requests unanswered.
	refuses bool
}

func newTable(t *testing.T, config *ServerConfig) *table {
	t.Helper()
	if config == nil {
		config = &ServerConfig{}
	}
	config.Threading = Stepped
	server, err := Listen("", config)
	must(t, err)
	game := &table{t: t, server: server, atClient: map[*Client][]Event{}}
	t.Cleanup(func() {
		for _, client := range game.clients {
			client.CloseWith(CodeNone, "", 0)
		}
		server.Shutdown(CodeShutdown, "", 0)
	})
	return game
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ask makes a client request a connection.
func (game *table) ask(token string) *Client {
	game.t.Helper()
	client, err := game.server.DialLocal([]byte(token), &ClientConfig{Threading: Stepped})
	must(game.t, err)
	game.clients = append(game.clients, client)
	return client
}

// join returns a connected client.
func (game *table) join(token string) *Client {
	game.t.Helper()
	client := game.ask(token)
	game.until(func() bool { return game.find(game.atClient[client], Connected) != nil })
	return client
}

// step is one round of all participants.
func (game *table) step() {
	events, err := game.server.Poll(500 * time.Microsecond)
	must(game.t, err)
	for _, event := range events {
		game.atServer = append(game.atServer, event)
		if event.Kind == Requested && !game.refuses {
			must(game.t, game.server.Accept(event.Peer))
		}
	}
	must(game.t, game.server.Flush())
	for _, client := range game.clients {
		if events, err := client.Poll(500 * time.Microsecond); err == nil {
			game.atClient[client] = append(game.atClient[client], events...)
		}
	}
}

// until steps until it holds.
func (game *table) until(holds func() bool) {
	game.t.Helper()
	for range 2_000 {
		if holds() {
			return
		}
		game.step()
	}
	game.t.Fatalf("it never held: %v, %v", game.atServer, game.atClient)
}

// find returns the first event of a kind.
func (game *table) find(events []Event, kind EventKind) *Event {
	for i := range events {
		if events[i].Kind == kind {
			return &events[i]
		}
	}
	return nil
}

// peer returns the peer that connected with this number, from 0.
func (game *table) peer(number int) Peer {
	game.t.Helper()
	for _, event := range game.atServer {
		if event.Kind == Connected {
			if number == 0 {
				return event.Peer
			}
			number--
		}
	}
	game.t.Fatal("nobody is connected")
	return 0
}

// messages returns the payloads among events.
func messages(events []Event) []string {
	var payloads []string
	for _, event := range events {
		if event.Kind == Message {
			payloads = append(payloads, string(event.Payload))
		}
	}
	return payloads
}
