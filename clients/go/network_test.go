package skipstone

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// connect accepts the client. Nil, or how the attempt ended.
func connect(t *testing.T, server *Server, client *Client) *Close {
	t.Helper()
	for range 2_000 {
		events, err := server.Poll(5 * time.Millisecond)
		must(t, err)
		for _, event := range events {
			if event.Kind == Requested {
				must(t, server.Accept(event.Peer))
			}
		}
		events, err = client.Poll(5 * time.Millisecond)
		must(t, err)
		for _, event := range events {
			switch event.Kind {
			case Connected:
				return nil
			case Closed:
				return &event.Close
			}
		}
	}
	t.Fatal("nothing came of it")
	return nil
}

func listen(t *testing.T, config *ServerConfig) (*Server, string) {
	t.Helper()
	server, err := Listen("127.0.0.1:0", config)
	must(t, err)
	t.Cleanup(func() { server.Close() })
	address, err := server.Address()
	must(t, err)
	return server, address
}

func TestDeniedAddressesAreCountedUntilTheyAreAllowed(t *testing.T) {
	_, err := Listen("127.0.0.1:0", &ServerConfig{Denied: []string{"192.0.2.7", "nonsense"}})
	refused(t, err, ErrBadValue, "denied")
	server, _ := listen(t, &ServerConfig{Denied: []string{"192.0.2.0/24", "127.0.0.1"}})
	url, err := server.URL()
	must(t, err)
	client, err := Dial(url, nil, nil)
	must(t, err)
	defer client.Close()
	var stats DriverStats
	for round := 0; stats.Denied == 0 && round < 2_000; round++ {
		_, err := server.Poll(5 * time.Millisecond)
		must(t, err)
		stats, err = server.DriverStats()
		must(t, err)
	}
	if stats.Denied == 0 || stats.ReceiveBufferBytes == 0 || stats.Rounds == 0 {
		t.Fatalf("%+v", stats)
	}
	must(t, server.SetDenied([]string{"192.0.2.0/24"}))
	if close := connect(t, server, client); close != nil {
		t.Fatal(close)
	}
	var peers []Peer
	var overviews []Overview
	for round := 0; (len(peers) == 0 || len(overviews) == 0) && round < 2_000; round++ {
		_, err := server.Poll(5 * time.Millisecond)
		must(t, err)
		peers, err = server.Peers()
		must(t, err)
		overviews, err = server.Overviews()
		must(t, err)
	}
	if len(peers) != 1 || len(overviews) != 1 || overviews[0].Peer != peers[0] {
		t.Fatal(peers, overviews)
	}
}

func TestAClientReconnectsWithItsLatestToken(t *testing.T) {
	server, _ := listen(t, nil)
	url, err := server.URL()
	must(t, err)
	client, err := Dial(url, []byte("first"), &ClientConfig{Reconnect: &Reconnect{PauseMin: 20 * time.Millisecond}})
	must(t, err)
	defer client.Close()
	refused(t, client.Reconnect(), ErrStillOpen, "")
	refused(t, client.SetToken(make([]byte, 1_025)), ErrTooLong, "1024")
	must(t, client.SetToken([]byte("again")))
	var tokens []string
	for connected, round := 0, 0; connected < 2; round++ {
		if round == 2_000 {
			t.Fatal("the client does not come back", tokens)
		}
		events, err := server.Poll(5 * time.Millisecond)
		must(t, err)
		for _, event := range events {
			if event.Kind == Requested {
				tokens = append(tokens, string(event.Payload))
				must(t, server.Accept(event.Peer))
			} else if event.Kind == Connected && len(tokens) == 1 {
				must(t, server.Disconnect(event.Peer, CodeRestart, "retry=60..60", 0))
			}
		}
		events, err = client.Poll(5 * time.Millisecond)
		must(t, err)
		for _, event := range events {
			if event.Kind == Connected {
				connected++
			} else if event.Kind == Closed {
				if pause, err := client.ReturnsIn(); err != nil || pause > 100*time.Millisecond {
					t.Fatal(pause, err)
				}
			}
		}
	}
	if !slices.Equal(tokens, []string{"first", "again"}) {
		t.Fatal(tokens)
	}
	_, err = client.ReturnsIn()
	refused(t, err, ErrNotAvailable, "by itself")
}

func TestTheLogIsReadLineByLine(t *testing.T) {
	for range 256 {
		if _, line, ok := NextLogLine(); !ok {
			return
		} else if line == "" {
			t.Fatal("a line says something")
		}
	}
	t.Fatal("the log has no end")
}

func TestEveryCarrierReachesTheServer(t *testing.T) {
	server, address := listen(t, nil)
	fingerprint, err := server.Fingerprint()
	must(t, err)
	for scheme, pin := range map[string]string{"skip": "#sha256=" + fingerprint.String(), "wss": "#sha256=" + fingerprint.String(), "ws": "", "tcp": ""} {
		client, err := Dial(scheme+"://"+address+pin, nil, nil)
		must(t, err)
		if close := connect(t, server, client); close != nil {
			t.Fatalf("%s: %v", scheme, close)
		}
		overview, err := client.Overview()
		for err != nil {
			overview, err = client.Overview()
		}
		t.Logf("%s: %s", scheme, overview.Carrier)
		must(t, client.Close())
	}
}

func TestPagesGetCertificateHashes(t *testing.T) {
	server, _ := listen(t, nil)
	hashes, err := server.WebFingerprints()
	must(t, err)
	own, err := server.Fingerprint()
	must(t, err)
	if len(hashes) != 2 || hashes[0] == hashes[1] || hashes[1] == (Fingerprint{}) || hashes[0] == own {
		t.Fatal(hashes, own)
	}
	plain, _ := listen(t, &ServerConfig{Security: Plain()})
	if hashes, err := plain.WebFingerprints(); len(hashes) > 0 {
		t.Fatal(hashes, err)
	}
}

func TestTrustDecidesWhichServersAreAccepted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "server.pem")
	server, address := listen(t, &ServerConfig{Security: SelfSignedIn(file)})
	fingerprint, err := server.Fingerprint()
	must(t, err)
	for _, attempt := range []struct {
		trust Trust
		code  uint64
	}{
		{TrustPinned(fingerprint), CodeNone},
		{TrustDangerouslyAnything(), CodeNone},
		{TrustPinned(Fingerprint{}), CodeSecurity},
		{Trust{}, CodeSecurity},
	} {
		client, err := Dial("skip://"+address, nil, &ClientConfig{Trust: attempt.trust})
		must(t, err)
		close := connect(t, server, client)
		if (close == nil) != (attempt.code == CodeNone) || close != nil && close.Code != attempt.code {
			t.Fatalf("%+v: %v", attempt, close)
		}
		must(t, client.Close())
	}
	again, _ := listen(t, &ServerConfig{Security: CertificateFiles(file, "")})
	if same, err := again.Fingerprint(); err != nil || same != fingerprint {
		t.Fatal(same, err)
	}
}

func TestLinesArriveOnceAndInOrderUnderLoss(t *testing.T) {
	server, _ := listen(t, nil)
	url, err := server.URL()
	must(t, err)
	lossy := Link{Loss: 0.1, Delay: 2 * time.Millisecond}
	client, err := Dial(url, nil, &ClientConfig{Impairment: &Impairment{Up: lossy, Down: lossy, Seed: 5}})
	must(t, err)
	defer client.Close()
	if close := connect(t, server, client); close != nil {
		t.Fatal(close)
	}
	var sent, heard []string
	for number := range 500 {
		sent = append(sent, fmt.Sprint(number))
		_, err := client.Send(0, []byte(sent[number]))
		must(t, err)
	}
	for end := time.Now().Add(20 * time.Second); len(heard) < len(sent) && time.Now().Before(end); {
		events, err := server.Poll(50 * time.Millisecond)
		must(t, err)
		heard = append(heard, messages(events)...)
	}
	if !slices.Equal(sent, heard) {
		t.Fatalf("%d of %d lines, or in another order", len(heard), len(sent))
	}
}

func TestTheServersTimeIsEstimated(t *testing.T) {
	server, _ := listen(t, nil)
	url, err := server.URL()
	must(t, err)
	client, err := Dial(url, nil, nil)
	must(t, err)
	defer client.Close()
	if close := connect(t, server, client); close != nil {
		t.Fatal(close)
	}
	for range 500 {
		_, err = client.Poll(10 * time.Millisecond)
		must(t, err)
		estimate, err := client.ServerTime()
		if err != nil {
			continue
		}
		now, err := server.Time()
		must(t, err)
		if (now - estimate.At).Abs() > estimate.Error+time.Second {
			t.Fatal(now, estimate)
		}
		return
	}
	t.Fatal("the server does not say its time")
}
