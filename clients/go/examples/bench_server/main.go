// Command bench_server is a server for `skipstone bench`, to compare with the tool's own: every line is sent to all
// clients, or back to its sender.
//
//	skipstone bench fanout --server go=./bench_server
//	bench_server broadcast|echo ADDRESS [TICKS A SECOND [TRANSPORT]]    ends with its standard input
//
// Its first line is the URL. It answers each line `mark` with its counters, as a line of JSON.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	skipstone "github.com/skipstone/skipstone/clients/go"
)

const (
	lines   = 0
	control = 1
)

func main() {
	if len(os.Args) < 3 {
		log.Fatal("bench_server broadcast|echo ADDRESS [TICKS A SECOND [TRANSPORT]]")
	}
	ticks := 60
	if len(os.Args) > 3 {
		var err error
		if ticks, err = strconv.Atoi(os.Args[3]); err != nil || ticks < 1 {
			log.Fatalf("%q is not a number of ticks per second", os.Args[3])
		}
	}
	transport := "mixed"
	if len(os.Args) > 4 {
		transport = os.Args[4]
	}
	server, err := listen(os.Args[2], transport)
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	url, err := server.URL()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(url)
	serving := serving{server: server, isEcho: os.Args[1] == "echo"}
	// The loop stays on one thread: the calls into C are cheaper so.
	runtime.LockOSThread()
	if err := serving.run(time.Second/time.Duration(ticks), orders()); err != nil {
		log.Fatal(err)
	}
}

func listen(address, transport string) (*skipstone.Server, error) {
	rule := func(channel uint16, priority uint8) skipstone.ChannelRule {
		rule := skipstone.Rule(channel, channel, skipstone.ReliableOrdered)
		rule.Priority, rule.QueueMessagesMax, rule.QueueBytesMax = priority, 1<<20, 4<<20
		return rule
	}
	return skipstone.Listen(address, &skipstone.ServerConfig{
		Channels:  []skipstone.ChannelRule{rule(lines, 1), rule(control, 0)},
		Security:  skipstone.Security{}.AllowingPlain(),
		Threading: skipstone.Stepped,
		// A port of TCP is served where there are clients for it.
		NoWebSocket: !strings.Contains(transport, "-w") && !strings.Contains(transport, "mixed"),
	})
}

// orders has a value for each line of standard input, and is closed at its end.
func orders() <-chan struct{} {
	marks := make(chan struct{})
	go func() {
		defer close(marks)
		for input := bufio.NewScanner(os.Stdin); input.Scan(); {
			marks <- struct{}{}
		}
	}()
	return marks
}

// counters are the answer to an order.
type counters struct {
	Ticks   uint64 `json:"ticks"`
	Slowest int64  `json:"slowest_tick_us"`
	Lines   uint64 `json:"lines"`
	Clients uint64 `json:"clients"`
	IPBytes uint64 `json:"ip_bytes"`
}

type serving struct {
	server   *skipstone.Server
	isEcho   bool
	counters counters
}

// run ticks until there will be no more orders.
func (s *serving) run(interval time.Duration, orders <-chan struct{}) error {
	due := time.Now()
	for {
		select {
		case _, goesOn := <-orders:
			if !goesOn {
				return nil
			}
			if err := s.answer(); err != nil {
				return err
			}
		default:
		}
		if err := s.tick(); err != nil {
			return err
		}
		now := time.Now()
		s.counters.Slowest = max(s.counters.Slowest, now.Sub(due).Microseconds())
		s.counters.Ticks++
		due = due.Add(interval)
		// Ticks that were missed altogether are skipped.
		if now.Sub(due) > interval {
			due = now
		}
		time.Sleep(due.Sub(now))
	}
}

func (s *serving) tick() error {
	for {
		events, err := s.server.Poll(0)
		if err != nil {
			return err
		}
		for i := range events {
			if err := s.handle(&events[i]); err != nil {
				return err
			}
		}
		if len(events) == 0 {
			break
		}
	}
	if err := s.server.Flush(); err != nil {
		return err
	}
	return s.server.Drive(0)
}

func (s *serving) handle(event *skipstone.Event) error {
	switch event.Kind {
	case skipstone.Requested:
		return s.server.Accept(event.Peer)
	case skipstone.Connected:
		s.counters.Clients++
	case skipstone.Closed:
		s.counters.Clients--
	case skipstone.Message:
		if event.Channel == lines {
			s.counters.Lines++
			return s.passOn(event)
		}
	}
	return nil
}

// passOn sends a line to its receivers, and drives the server while its queues are full.
func (s *serving) passOn(event *skipstone.Event) error {
	for {
		var err error
		if s.isEcho {
			_, err = s.server.SendAged(event.Peer, lines, event.Payload, event.Age)
		} else {
			_, _, err = s.server.Broadcast(skipstone.Everyone, lines, event.Payload)
		}
		if !errors.Is(err, skipstone.ErrDriverBusy) {
			// A client that has left gets nothing.
			return nil
		}
		if err := errors.Join(s.server.Flush(), s.server.Drive(0)); err != nil {
			return err
		}
	}
}

func (s *serving) answer() error {
	stats, err := s.server.Stats()
	if err != nil {
		return err
	}
	s.counters.IPBytes = stats.Sent.IPBytes + stats.Received.IPBytes
	line, err := json.Marshal(s.counters)
	fmt.Println(string(line))
	s.counters.Slowest = 0
	return err
}
