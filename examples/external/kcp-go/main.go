// KCP, in the implementation kcp-go, as a transport of `skipstone compare --external`: one session whose stream carries
// length-prefixed messages, retransmission after two later acknowledgements, a clock of 10 ms.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/xtaci/kcp-go/v5"
	"golang.org/x/sys/unix"
)

type arguments struct {
	listen, connect          string
	entities, payload        int
	ticksPerSecond, ticks    int
	patienceMs               int
	dataShards, parityShards int
	messages                 bool
}

// say prints a line of JSON, {"kind": what}.
func say(kind string, what any) {
	line, err := json.Marshal(map[string]any{kind: what})
	if err == nil {
		fmt.Println(string(line))
	}
}

func fail(err error) {
	say("failed", map[string]string{"reason": err.Error()})
	os.Exit(1)
}

// nowUs is the clock that all processes of the machine share.
func nowUs() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		fail(err)
	}
	return now.Nano() / 1000
}

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("the first argument is server or client"))
	}
	var all arguments
	flags := flag.NewFlagSet("kcp-echo", flag.ContinueOnError)
	flags.StringVar(&all.listen, "listen", "", "")
	flags.StringVar(&all.connect, "connect", "", "")
	flags.IntVar(&all.entities, "entities", 1, "")
	flags.IntVar(&all.payload, "payload", 50, "")
	flags.IntVar(&all.ticksPerSecond, "ticks-per-second", 60, "")
	flags.IntVar(&all.ticks, "ticks", 60, "")
	flags.IntVar(&all.patienceMs, "patience-ms", 5000, "")
	flags.BoolVar(&all.messages, "messages", false, "the server echoes messages of at most 1,376 bytes, not a stream")
	flags.Int64("seed", 0, "of no use here")
	if err := flags.Parse(os.Args[2:]); err != nil {
		fail(err)
	}
	switch os.Args[1] {
	case "server":
		// Standard input ends when the run is over, or when the process that started this one has ended.
		go serve(all)
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "client":
		measure(all)
	default:
		fail(fmt.Errorf("the first argument is server or client"))
	}
}

func tune(session *kcp.UDPSession) {
	session.SetStreamMode(true)
	// Writes made together are sent at once and together.
	session.SetWriteDelay(false)
	session.SetNoDelay(1, 10, 2, 1)
	session.SetWindowSize(1024, 1024)
	session.SetACKNoDelay(true)
}

func serve(all arguments) {
	listener, err := kcp.ListenWithOptions(all.listen, nil, all.dataShards, all.parityShards)
	if err != nil {
		fail(err)
	}
	say("listening", map[string]string{"address": listener.Addr().String()})
	for {
		session, err := listener.AcceptKCP()
		if err != nil {
			fail(err)
		}
		tune(session)
		session.SetStreamMode(!all.messages)
		go func() { _, _ = io.Copy(session, session) }()
	}
}

// update is an entity, its tick, and filler derived from both.
func update(bytes, entity, tick int) []byte {
	all := make([]byte, bytes)
	for at := range all {
		all[at] = byte(entity*31 + tick*7 + at)
	}
	binary.BigEndian.PutUint16(all, uint16(entity))
	binary.BigEndian.PutUint32(all[2:], uint32(tick))
	return all
}

// echoes are those that were not reported yet.
type echoes struct {
	mutex     sync.Mutex
	waiting   [][3]int64
	came      atomic.Int64
	corrupted atomic.Int64
}

func (e *echoes) tell() {
	e.mutex.Lock()
	told := e.waiting
	e.waiting = nil
	e.mutex.Unlock()
	if len(told) > 0 {
		say("echoes", told)
	}
}

func (e *echoes) receive(session *kcp.UDPSession, all arguments) {
	reader, message := bufio.NewReader(session), make([]byte, all.payload)
	for {
		if _, err := io.ReadFull(reader, message); err != nil {
			return
		}
		at := nowUs()
		entity, tick := int(binary.BigEndian.Uint16(message)), int(binary.BigEndian.Uint32(message[2:]))
		if !bytes.Equal(message, update(all.payload, entity, tick)) {
			e.corrupted.Add(1)
			continue
		}
		e.mutex.Lock()
		e.waiting = append(e.waiting, [3]int64{int64(tick), int64(entity), at})
		e.mutex.Unlock()
		e.came.Add(1)
	}
}

func measure(all arguments) {
	begun := nowUs()
	session, err := kcp.DialWithOptions(all.connect, nil, all.dataShards, all.parityShards)
	if err != nil {
		fail(err)
	}
	tune(session)
	// KCP has no handshake: the first update opens the session.
	first := nowUs() + 1000
	say("began", map[string]any{"connect_ms": float64(nowUs()-begun) / 1e3, "first_due_us": first})
	var received echoes
	go received.receive(session, all)
	due := func(tick int) int64 { return first + int64(tick)*1_000_000/int64(all.ticksPerSecond) }
	for tick := range all.ticks {
		time.Sleep(time.Duration(due(tick)-nowUs()) * time.Microsecond)
		var updates []byte
		for entity := range all.entities {
			updates = append(updates, update(all.payload, entity, tick)...)
		}
		if _, err := session.Write(updates); err != nil {
			fail(err)
		}
		if tick%all.ticksPerSecond == 0 {
			received.tell()
		}
	}
	expected, end := int64(all.ticks)*int64(all.entities), due(all.ticks)+int64(all.patienceMs)*1000
	for nowUs() < end && received.came.Load() < expected {
		time.Sleep(time.Millisecond)
	}
	received.tell()
	say("done", map[string]int64{"corrupted": received.corrupted.Load()})
}
