// Command interop plays the game that programs in all languages play together; interop/README.md states its rules.
//
//	interop --server URL --name NAME --lines K [--seconds S]
//	interop --listen HOST:PORT --clients C [--seconds S]
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	skipstone "github.com/skipstone/skipstone/clients/go"
)

const (
	control, stress = 0, 1
	every           = 10 * time.Millisecond
	goodbye         = 2 * time.Second
	alphabet        = "abcdefghijklmnopqrstuvwxyz"
)

func main() {
	server := flag.String("server", "", "URL of the server to play with")
	name := flag.String("name", "go", "name of this client")
	lines := flag.Int("lines", 100, "lines to send")
	listen := flag.String("listen", "", "HOST:PORT to serve at")
	clients := flag.Int("clients", 1, "clients to wait for")
	seconds := flag.Float64("seconds", 30, "time limit")
	flag.Parse()
	limit := time.Duration(*seconds * float64(time.Second))
	if (*server == "") == (*listen == "") || flag.NArg() > 0 || *lines < 1 || *clients < 1 {
		fmt.Fprintln(os.Stderr, "either --server URL or --listen HOST:PORT")
		os.Exit(2)
	}
	var isOK bool
	if *server != "" {
		isOK = play(*server, *name, *lines, limit)
	} else {
		isOK = serve(*listen, *clients, limit)
	}
	if !isOK {
		os.Exit(1)
	}
}

// line is a stress line, whose content every program can compute.
func line(name string, number int) string {
	length, start := number*37%1500, number%26
	turned := alphabet[start:] + alphabet[:start]
	return fmt.Sprintf("%s %d %s", name, number, strings.Repeat(turned, length/26+1)[:length])
}

// ledger is the lines received from each name.
type ledger struct {
	lines                             int
	nextLine, nextChat                map[string]int
	received, chats                   int
	duplicated, outOfOrder, isChanged int
}

func newLedger(names []string, lines int) *ledger {
	l := &ledger{lines: lines, nextLine: map[string]int{}, nextChat: map[string]int{}}
	for _, name := range names {
		l.nextLine[name], l.nextChat[name] = 1, 10
	}
	return l
}

func (l *ledger) onLine(text string) {
	words := strings.SplitN(text, " ", 3)
	if len(words) == 3 {
		number, err := strconv.Atoi(words[1])
		if expected, isKnown := l.nextLine[words[0]]; isKnown && err == nil && text == line(words[0], number) {
			l.received++
			l.nextLine[words[0]] = l.check(number, expected) + 1
			return
		}
	}
	l.isChanged++
}

func (l *ledger) onChat(text string) {
	words := strings.Split(text, " ")
	if len(words) == 3 {
		number, err := strconv.Atoi(words[2])
		if expected, isKnown := l.nextChat[words[1]]; isKnown && err == nil {
			l.chats++
			l.nextChat[words[1]] = l.check(number, expected) + 10
			return
		}
	}
	l.isChanged++
}

// check compares, and returns the number that counts as the last.
func (l *ledger) check(number, expected int) int {
	switch {
	case number < expected:
		l.duplicated++
	case number > expected:
		l.outOfOrder++
	}
	return max(number, expected-1)
}

func (l *ledger) isComplete() bool {
	for name := range l.nextLine {
		if l.nextLine[name] <= l.lines || l.nextChat[name] <= l.lines {
			return false
		}
	}
	return true
}

func (l *ledger) isClean() bool {
	counted := l.received == l.lines*len(l.nextLine) && l.chats == l.lines/10*len(l.nextLine)
	return l.isComplete() && counted && l.duplicated+l.outOfOrder+l.isChanged == 0
}

// clientResult and serverResult are printed at the end.
type clientResult struct {
	Event      string `json:"event"`
	Role       string `json:"role"`
	Language   string `json:"language"`
	Name       string `json:"name"`
	Sent       int    `json:"sent"`
	Received   int    `json:"received"`
	Chats      int    `json:"chats"`
	Duplicated int    `json:"duplicated"`
	OutOfOrder int    `json:"out_of_order"`
	Changed    int    `json:"changed"`
	OK         bool   `json:"ok"`
	Reason     string `json:"reason"`
}

type serverResult struct {
	Event    string `json:"event"`
	Role     string `json:"role"`
	Language string `json:"language"`
	Clients  int    `json:"clients"`
	Lines    int    `json:"lines"`
	Chats    int    `json:"chats"`
	OK       bool   `json:"ok"`
	Reason   string `json:"reason"`
}

func tell(what any) { json.NewEncoder(os.Stdout).Encode(what) }

// play is one client.
func play(url, name string, lines int, limit time.Duration) bool {
	book, sent, err := newLedger(nil, lines), 0, error(nil)
	isOver := false
	// With it the client follows when its server moves it to another one.
	config := &skipstone.ClientConfig{Reconnect: &skipstone.Reconnect{}}
	client, err := skipstone.Dial(url, []byte(name), config)
	if err == nil {
		book, sent, isOver, err = converse(client, name, lines, time.Now().Add(limit))
		client.CloseWith(skipstone.CodeNone, "thank you", 500*time.Millisecond)
	}
	isOK := err == nil && isOver && book.isClean()
	tell(clientResult{
		"result", "client", "go", name, sent, book.received, book.chats, book.duplicated, book.outOfOrder, book.isChanged, isOK, textOf(err),
	})
	return isOK
}

func converse(client *skipstone.Client, name string, lines int, end time.Time) (book *ledger, sent int, isOver bool, err error) {
	book = newLedger(nil, lines)
	hasStarted, isDone := false, false
	var next time.Time
	send := func(channel uint16, text string) {
		_, refused := client.Send(channel, []byte(text))
		err = errors.Join(err, refused)
	}
	for !isOver && err == nil {
		now := time.Now()
		if now.After(end) {
			return book, sent, false, errors.New("it is not over within the time limit")
		}
		events, failed := client.Poll(every / 2)
		if failed != nil {
			return book, sent, false, failed
		}
		for i := range events {
			event := &events[i]
			text := string(event.Payload)
			switch {
			case event.Kind == skipstone.Connected:
				tell(map[string]string{"event": "connected"})
			case event.Kind == skipstone.Closed:
				return book, sent, false, fmt.Errorf("closed: %v", event.Close)
			case event.Kind != skipstone.Message:
			case event.Channel == stress:
				book.onLine(text)
			case strings.HasPrefix(text, "chat "):
				book.onChat(text)
			case strings.HasPrefix(text, "start "):
				book = newLedger(strings.Split(text, " ")[1:], lines)
				send(control, "ready")
			case text == "go":
				hasStarted, next = true, now
			case text == "over":
				isOver = true
			}
		}
		for hasStarted && sent < lines && !next.After(now) && err == nil {
			sent++
			next = next.Add(every)
			send(stress, line(name, sent))
			if sent%10 == 0 {
				send(control, fmt.Sprintf("chat %s %d", name, sent))
			}
		}
		if hasStarted && !isDone && sent == lines && book.isComplete() {
			isDone = true
			send(control, "done")
		}
	}
	return book, sent, isOver, err
}

// serve is the server.
func serve(listen string, clients int, limit time.Duration) bool {
	result := serverResult{Event: "result", Role: "server", Language: "go", Clients: clients}
	server, err := skipstone.Listen(listen, nil)
	if err == nil {
		err = host(server, &result, time.Now().Add(limit))
		server.Close()
	}
	result.OK, result.Reason = err == nil, textOf(err)
	tell(result)
	return result.OK
}

func host(server *skipstone.Server, result *serverResult, end time.Time) error {
	url, err := server.URL()
	if err != nil {
		return err
	}
	port, err := server.Port()
	if err != nil {
		return err
	}
	listening := map[string]any{"event": "listening", "url": url, "port": port}
	// Browsers accept only a certificate that is valid for a few days, so they get another one.
	if hashes, err := server.WebFingerprints(); err == nil && len(hashes) > 0 {
		listening["pages"] = fmt.Sprintf("https://127.0.0.1:%d#sha256=%v", port, hashes[0])
	}
	tell(listening)
	names, connected := map[skipstone.Peer]string{}, map[skipstone.Peer]bool{}
	hasStarted, isGoing, isOver, ready, done := false, false, false, 0, 0
	for !isOver || len(connected) > 0 {
		if time.Now().After(end) {
			if isOver {
				return nil
			}
			return fmt.Errorf("it is not over within the time limit: %d clients, %d done", len(connected), done)
		}
		events, err := server.Poll(every / 2)
		pass := func(channel uint16, payload []byte) {
			_, _, refused := server.Broadcast(skipstone.Everyone, channel, payload)
			err = errors.Join(err, refused)
		}
		for i := range events {
			switch event := &events[i]; event.Kind {
			case skipstone.Requested:
				names[event.Peer] = string(event.Payload)
				err = errors.Join(err, server.Accept(event.Peer))
			case skipstone.Connected:
				connected[event.Peer] = true
			case skipstone.Message:
				switch text := string(event.Payload); {
				case event.Channel == stress:
					result.Lines++
					pass(stress, event.Payload)
				case strings.HasPrefix(text, "chat "):
					result.Chats++
					pass(control, event.Payload)
				case text == "ready":
					ready++
				case text == "done":
					done++
				}
			case skipstone.Closed:
				delete(connected, event.Peer)
				if !isOver {
					return fmt.Errorf("%s left before the end: %v", names[event.Peer], event.Close)
				}
			}
		}
		if !hasStarted && len(connected) == result.Clients {
			hasStarted = true
			start := "start"
			for peer := range connected {
				start += " " + names[peer]
			}
			pass(control, []byte(start))
		}
		if !isGoing && ready == result.Clients {
			isGoing = true
			pass(control, []byte("go"))
		}
		if !isOver && done == result.Clients {
			isOver, end = true, time.Now().Add(goodbye)
			pass(control, []byte("over"))
		}
		if err = errors.Join(err, server.Flush()); err != nil {
			return err
		}
	}
	return nil
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
