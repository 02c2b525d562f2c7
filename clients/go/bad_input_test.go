package skipstone

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
)

// refused checks that an error has this reason, and a text with a remedy.
func refused(t *testing.T, err error, reason error, remedy string) {
	t.Helper()
	if !errors.Is(err, reason) || !strings.Contains(err.Error(), remedy) {
		t.Fatalf("got %#v, want %v with %q", err, reason, remedy)
	}
}

func TestAClosedClientReturnsErrClosed(t *testing.T) {
	game := newTable(t, nil)
	client := game.join("")
	must(t, client.CloseWith(0, "", 0))
	calls := map[string]func() error{
		"Poll":       func() error { _, err := client.Poll(time.Second); return err },
		"Send":       func() error { _, err := client.Send(0, nil); return err },
		"Flush":      client.Flush,
		"Overview":   func() error { _, err := client.Overview(); return err },
		"ServerTime": func() error { _, err := client.ServerTime(); return err },
		"Rebind":     func() error { _, err := client.Rebind(); return err },
		"Close":      client.Close,
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAShutDownServerReturnsErrClosed(t *testing.T) {
	game := newTable(t, nil)
	game.join("")
	must(t, game.server.Shutdown(CodeShutdown, "", 0))
	_, err := game.server.Poll(time.Second)
	refused(t, err, ErrClosed, "")
	_, _, err = game.server.Broadcast(Everyone, 0, []byte("anybody?"))
	refused(t, err, ErrClosed, "")
	_, err = game.server.URL()
	refused(t, err, ErrClosed, "")
	_, err = game.server.DialLocal(nil, nil)
	refused(t, err, ErrClosed, "")
	refused(t, game.server.Close(), ErrClosed, "")
}

func TestInvalidMessagesAreRefused(t *testing.T) {
	game := newTable(t, &ServerConfig{Channels: []ChannelRule{Rule(0, 9, ReliableOrdered)}})
	early := game.ask("")
	_, err := early.Send(0, []byte("early"))
	refused(t, err, ErrNotConnected, "")
	client := game.join("")
	_, err = client.Send(10, []byte("nowhere"))
	refused(t, err, ErrNoSuchChannel, "channel table")
	_, err = client.Send(0, make([]byte, 1<<20+1))
	refused(t, err, ErrTooLong, "split it")
	_, err = game.server.Send(Peer(math.MaxUint64), 0, nil)
	refused(t, err, ErrUnknownPeer, "")
	refused(t, game.server.Accept(game.peer(0)), ErrNotWaiting, "")
	refused(t, game.server.Join(game.peer(0), Everyone), ErrBadValue, "")
	refused(t, game.server.Disconnect(game.peer(0), math.MaxUint64, "", 0), ErrBadValue, "62 bits")
	_, err = game.server.Overview(Peer(5))
	refused(t, err, ErrNotAvailable, "")
	_, err = game.server.DialLocal(make([]byte, 1_025), nil)
	refused(t, err, ErrTooLong, "1024")
}

func TestTextsAreChecked(t *testing.T) {
	game := newTable(t, nil)
	client := game.join("")
	refused(t, client.CloseWith(0, "\xff", 0), ErrNotUTF8, "")
	refused(t, client.CloseWith(0, "a\x00b", 0), ErrBadValue, "NUL")
	refused(t, game.server.Disconnect(game.peer(0), 0, "\xc3\x28", 0), ErrNotUTF8, "")
	for url, reason := range map[string]error{
		"":                             ErrBadURL,
		"http://127.0.0.1":             ErrBadURL,
		"skip://":                      ErrBadURL,
		"skip://127.0.0.1:1#sha256=12": ErrBadURL,
		"skip://\xff":                  ErrNotUTF8,
		"skip://127.0.0.1\x00:1":       ErrBadValue,
	} {
		_, err := Dial(url, nil, nil)
		refused(t, err, reason, "")
	}
	for text, remedy := range map[string]string{"192.0.2.1\x00/8": "NUL", "": "neither an address nor a network", "nonsense": "nor a network"} {
		refused(t, game.server.SetDenied([]string{"192.0.2.7", text}), ErrBadValue, remedy)
	}
	must(t, game.server.SetDenied([]string{"192.0.2.7", "2001:db8::/32"}))
	must(t, game.server.SetDenied(nil))
	for address, reason := range map[string]error{"localhost": ErrBadValue, "127.0.0.1:99999": ErrBadValue, "\xff": ErrNotUTF8} {
		_, err := Listen(address, nil)
		refused(t, err, reason, "")
	}
}

func TestConfigurationsAreChecked(t *testing.T) {
	for name, config := range map[string]ServerConfig{
		"a rule backwards": {Channels: []ChannelRule{Rule(9, 3, ReliableOrdered)}},
		"an empty table":   {Channels: []ChannelRule{}},
		"a rule of zero":   {Channels: []ChannelRule{{}}},
		"no such delivery": {Channels: []ChannelRule{Rule(0, 0, 99)}},
		"repeats too much": {Redundancy: Repeat(9)},
		"too short":        {IdleTimeout: time.Millisecond},
		"a loss above one": {Impairment: &Impairment{Up: Link{Loss: 1.5}}, NoWebSocket: true},
		"no such file":     {Security: CertificateFiles("/nowhere/at/all.pem", "")},
		"no PEM":           {Security: CertificatePEM("no PEM", "no PEM")},
		"stepped shards":   {Threading: Stepped, Shards: 2},
		"no proxy":         {TrustedProxies: []string{"nowhere"}},
		"a small queue":    {QueueBytesMax: 1},
		"a small memory":   {MemoryMax: 1},
		"a long answer":    {QueryAnswer: make([]byte, 2_000)},
		"a bad origin":     {Origins: []string{"game.example"}},
	} {
		server, err := Listen("127.0.0.1:0", &config)
		var refusal *Error
		if !errors.As(err, &refusal) || refusal.Text == "" {
			t.Errorf("%s: %v, %v", name, server, err)
		}
	}
	_, err := Dial("skip://127.0.0.1:1", nil, &ClientConfig{Trust: TrustAuthorities("no PEM")})
	refused(t, err, ErrBadTrust, "")
}

func TestManyGoroutinesShareAHandle(t *testing.T) {
	server, err := Listen("127.0.0.1:0", nil)
	must(t, err)
	defer server.Close()
	url, err := server.URL()
	must(t, err)
	client, err := Dial(url, nil, nil)
	must(t, err)
	defer client.Close()
	for isConnected := false; !isConnected; {
		events, err := server.Poll(10 * time.Millisecond)
		must(t, err)
		for _, event := range events {
			if event.Kind == Requested {
				must(t, server.Accept(event.Peer))
			}
		}
		events, err = client.Poll(10 * time.Millisecond)
		must(t, err)
		for _, event := range events {
			isConnected = isConnected || event.Kind == Connected
		}
	}
	const senders, each = 8, 100
	var sending sync.WaitGroup
	for range senders {
		sending.Add(1)
		go func() {
			defer sending.Done()
			for range each {
				if _, err := client.Send(0, []byte("hello")); err != nil {
					t.Error(err)
				}
				client.Overview()
			}
		}()
	}
	// Two that poll at once: each event goes to one of them.
	var polling sync.WaitGroup
	var lock sync.Mutex
	count := 0
	end := time.Now().Add(20 * time.Second)
	for range 2 {
		polling.Add(1)
		go func() {
			defer polling.Done()
			for time.Now().Before(end) {
				// The slice is the other's as soon as the other polls: so it is read before.
				lock.Lock()
				if count == senders*each {
					lock.Unlock()
					return
				}
				events, err := server.Poll(time.Millisecond)
				if err != nil {
					t.Error(err)
				}
				count += len(messages(events))
				lock.Unlock()
			}
		}()
	}
	sending.Wait()
	polling.Wait()
	if count != senders*each {
		t.Fatalf("%d of %d messages", count, senders*each)
	}
}

func TestAServerIsClosedWhileItIsPolled(t *testing.T) {
	server, err := Listen("127.0.0.1:0", nil)
	must(t, err)
	ended := make(chan error)
	go func() {
		for {
			if _, err := server.Poll(10 * time.Second); err != nil {
				ended <- err
				return
			}
		}
	}()
	time.Sleep(50 * time.Millisecond)
	must(t, server.Close())
	select {
	case err := <-ended:
		refused(t, err, ErrClosed, "")
	case <-time.After(20 * time.Second):
		t.Fatal("the poll does not end")
	}
}
