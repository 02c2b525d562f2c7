package skipstone

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAMessageGoesBothWays(t *testing.T) {
	game := newTable(t, nil)
	client := game.join("Ann")
	requested := game.atServer[0]
	if requested.Kind != Requested || string(requested.Payload) != "Ann" || requested.Address != "127.0.0.1:0" {
		t.Fatalf("%+v", requested)
	}
	_, err := client.Send(0, []byte("ping"))
	must(t, err)
	game.until(func() bool { return slices.Equal(messages(game.atServer), []string{"ping"}) })
	_, err = game.server.Send(game.peer(0), 7, []byte("pong"))
	must(t, err)
	game.until(func() bool { return slices.Equal(messages(game.atClient[client]), []string{"pong"}) })
	if event := game.find(game.atClient[client], Message); event.Channel != 7 {
		t.Fatalf("%+v", event)
	}
}

func TestAThousandMessagesArriveOnceAndInOrder(t *testing.T) {
	game := newTable(t, nil)
	client := game.join("")
	var sent []string
	for number := range 1_000 {
		// Empty ones too, for which there are no bytes to point to.
		sent = append(sent, strings.Repeat(fmt.Sprint(number), number%3))
		_, err := client.Send(1, []byte(sent[number]))
		must(t, err)
	}
	game.until(func() bool { return len(messages(game.atServer)) >= len(sent) })
	if !slices.Equal(messages(game.atServer), sent) {
		t.Fatal("not what was sent")
	}
}

func TestPayloadsBelongToTheReceiver(t *testing.T) {
	game := newTable(t, nil)
	client := game.join("")
	buffer := []byte("first")
	_, err := client.Send(0, buffer)
	must(t, err)
	copy(buffer, "third")
	_, err = client.Send(0, []byte("second"))
	must(t, err)
	game.until(func() bool { return len(messages(game.atServer)) == 2 })
	first := game.find(game.atServer, Message).Payload
	_ = append(first, "and more"...)
	if got := messages(game.atServer); !slices.Equal(got, []string{"first", "second"}) {
		t.Fatal(got)
	}
}

func TestGroupsGetTheirMessages(t *testing.T) {
	game := newTable(t, nil)
	clients := []*Client{game.join(""), game.join(""), game.join("")}
	const red = Group(1)
	must(t, game.server.Join(game.peer(0), red))
	must(t, game.server.Join(game.peer(2), red))
	_, everybody, err := game.server.Broadcast(Everyone, 0, []byte("everybody"))
	must(t, err)
	_, reds, err := game.server.Broadcast(red, 0, []byte("red"))
	must(t, err)
	if everybody != 3 || reds != 2 {
		t.Fatal(everybody, reds)
	}
	game.until(func() bool {
		return len(messages(game.atClient[clients[0]])) == 2 && len(messages(game.atClient[clients[2]])) == 2 &&
			len(messages(game.atClient[clients[1]])) == 1
	})
	must(t, game.server.Leave(game.peer(0), red))
	if _, reds, _ = game.server.Broadcast(red, 0, []byte("blue")); reds != 1 {
		t.Fatal(reds)
	}
}

func TestABroadcastSkipsTheExcludedPeers(t *testing.T) {
	game := newTable(t, nil)
	clients := []*Client{game.join(""), game.join(""), game.join("")}
	_, count, err := game.server.BroadcastExcept(Everyone, []Peer{game.peer(1)}, 0, []byte("not 1"))
	must(t, err)
	_, all, err := game.server.BroadcastExcept(Everyone, nil, 0, []byte("all"))
	must(t, err)
	if count != 2 || all != 3 {
		t.Fatal(count, all)
	}
	game.until(func() bool {
		return len(messages(game.atClient[clients[0]])) == 2 && len(messages(game.atClient[clients[1]])) == 1 &&
			len(messages(game.atClient[clients[2]])) == 2
	})
	peers, err := game.server.Peers()
	must(t, err)
	if slices.Sort(peers); len(peers) != 3 || !slices.Contains(peers, game.peer(1)) {
		t.Fatal(peers)
	}
	if address, err := game.server.RemoteAddr(game.peer(1)); err != nil || address == "" {
		t.Fatal(address, err)
	}
	if _, err := game.server.RemoteAddr(Peer(77)); !errors.Is(err, ErrNotAvailable) {
		t.Fatal(err)
	}
}

func TestReceiptsReportArrival(t *testing.T) {
	trades := Rule(0, 0, ReliableOrdered)
	trades.Receipts = true
	game := newTable(t, &ServerConfig{Channels: []ChannelRule{trades}})
	client := game.join("")
	id, err := client.Send(0, []byte("the sword for the shield"))
	must(t, err)
	game.until(func() bool { return game.find(game.atClient[client], Acknowledged) != nil })
	if event := game.find(game.atClient[client], Acknowledged); event.ID != id {
		t.Fatalf("%+v is not %d", event, id)
	}
}

func TestBothSidesGetTheSameCodeAndReason(t *testing.T) {
	game := newTable(t, nil)
	client := game.join("")
	must(t, game.server.Disconnect(game.peer(0), 7, "günstig", time.Second))
	game.until(func() bool {
		return game.find(game.atClient[client], Closed) != nil && game.find(game.atServer, Closed) != nil
	})
	if got := game.find(game.atClient[client], Closed).Close; got != (Close{Remote, 7, "günstig"}) {
		t.Fatal(got)
	}
	if got := game.find(game.atServer, Closed).Close; got.By != Local || got.Code != 7 {
		t.Fatal(got)
	}
}

func TestARefusedClientGetsTheReason(t *testing.T) {
	game := newTable(t, nil)
	game.refuses = true
	client := game.ask("Zoe")
	game.until(func() bool { return len(game.atServer) > 0 })
	must(t, game.server.Refuse(game.atServer[0].Peer, 42, "choose another name"))
	game.until(func() bool { return game.find(game.atClient[client], Closed) != nil })
	if got := game.find(game.atClient[client], Closed).Close; got != (Close{Remote, 42, "choose another name"}) {
		t.Fatal(got)
	}
}

func TestStatisticsCountMessages(t *testing.T) {
	game := newTable(t, nil)
	client := game.join("")
	for range 5 {
		_, err := client.Send(0, []byte("12345"))
		must(t, err)
	}
	game.until(func() bool {
		stats, err := game.server.Stats()
		must(t, err)
		return stats.Received.Messages == 5 && stats.Received.PayloadBytes == 25
	})
	overview, err := game.server.Overview(game.peer(0))
	must(t, err)
	if overview.Carrier != "local" || overview.Peer != game.peer(0) {
		t.Fatalf("%+v", overview)
	}
}

func TestNoPointerToFreedMemoryIsKept(t *testing.T) {
	game := newTable(t, nil)
	client := game.join("a token")
	_, err := client.Send(0, []byte("a message"))
	must(t, err)
	game.until(func() bool { return len(messages(game.atServer)) == 1 })
	for _, handle := range []*handle{&game.server.handle, &client.handle} {
		for i := range handle.raw {
			if raw := &handle.raw[i]; raw.data != nil || raw.address != nil {
				t.Fatalf("event %d points to what was given back", i)
			}
		}
	}
	var memory arena
	if memory.text("a text", "text") == nil {
		t.Fatal("there is a text")
	}
	memory.free()
	if len(memory.held) > 0 {
		t.Fatal("freed texts are kept")
	}
}

func TestALoopKeepsItsTickAndGetsEveryEvent(t *testing.T) {
	game := newTable(t, nil)
	client := game.join("")
	const interval, ticks, burst = 10 * time.Millisecond, 10, 10
	received, began := 0, time.Now()
	take := func() {
		events, err := game.server.Poll(0)
		must(t, err)
		received += len(messages(events))
	}
	for range ticks {
		for range burst {
			_, err := client.Send(0, []byte("an event"))
			must(t, err)
		}
		must(t, client.Drive(0))
		_, err := game.server.WaitTick(interval)
		must(t, err)
		take()
	}
	if took := time.Since(began); took < ticks*interval {
		t.Fatalf("%d ticks of %v took %v", ticks, interval, took)
	}
	for round := 0; received < ticks*burst && round < 1_000; round++ {
		must(t, client.Drive(time.Millisecond))
		take()
	}
	if received != ticks*burst {
		t.Fatalf("%d messages", received)
	}
}
