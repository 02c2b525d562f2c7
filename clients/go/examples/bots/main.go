// Command bots is a game of fifty bots: each sends its direction thirty times a second, and receives the positions of
// all.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"math"
	"time"

	skipstone "github.com/skipstone/skipstone/clients/go"
)

const (
	bots  = 50
	tick  = time.Second / 30
	speed = 0.02
	// The channels: inputs, of which only the newest counts, and snapshots, which the next tick replaces.
	inputs, world = 0, 1
)

// step is the direction of a bot.
type step struct{ X, Y float32 }

// dot is where somebody is.
type dot struct {
	Peer uint64
	X, Y float32
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	worlds, dots, err := run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d bots saw %d worlds, the last with %d dots\n", bots, worlds, dots)
}

// run plays until the context ends. It returns the number of snapshots that the bots received, and of dots in the last
// one.
func run(ctx context.Context) (worlds, dots int, err error) {
	wishes := skipstone.Rule(inputs, inputs, skipstone.ReliableSequenced)
	wishes.Priority = 0
	server, err := skipstone.Listen("127.0.0.1:0", &skipstone.ServerConfig{
		Channels: []skipstone.ChannelRule{wishes, skipstone.Rule(world, world, skipstone.UnreliableSequenced)},
	})
	if err != nil {
		return 0, 0, err
	}
	defer server.Close()
	url, err := server.URL()
	if err != nil {
		return 0, 0, err
	}
	served := make(chan error, 1)
	go func() { served <- serve(ctx, server) }()
	worlds, dots, err = play(ctx, url)
	return worlds, dots, errors.Join(err, <-served)
}

// serve runs the game.
func serve(ctx context.Context, server *skipstone.Server) error {
	places, wishes := map[skipstone.Peer]dot{}, map[skipstone.Peer]step{}
	for ctx.Err() == nil {
		// Inputs do not shorten the tick.
		if _, err := server.WaitTick(tick); err != nil {
			return err
		}
		for {
			events, err := server.Poll(0)
			if err != nil {
				return err
			}
			if len(events) == 0 {
				break
			}
			for i := range events {
				switch event := &events[i]; event.Kind {
				case skipstone.Requested:
					if err := server.Accept(event.Peer); err != nil {
						return err
					}
				case skipstone.Connected:
					places[event.Peer] = dot{Peer: uint64(event.Peer)}
				case skipstone.Message:
					var wish step
					if _, err := binary.Decode(event.Payload, binary.LittleEndian, &wish); err == nil {
						wishes[event.Peer] = wish
					}
				case skipstone.Closed:
					delete(places, event.Peer)
					delete(wishes, event.Peer)
				}
			}
		}
		var snapshot bytes.Buffer
		for peer, place := range places {
			place.X += bounded(wishes[peer].X)
			place.Y += bounded(wishes[peer].Y)
			places[peer] = place
			binary.Write(&snapshot, binary.LittleEndian, place)
		}
		if snapshot.Len() > 0 {
			if _, _, err := server.Broadcast(skipstone.Everyone, world, snapshot.Bytes()); err != nil {
				return err
			}
		}
		if err := server.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// bounded limits a step: a client may send any value; one that is not a number does not move the player.
func bounded(step float32) float32 {
	if step != step {
		return 0
	}
	return speed * max(-1, min(1, step))
}

// play has fifty bots in one goroutine.
func play(ctx context.Context, url string) (worlds, dots int, err error) {
	var clients [bots]*skipstone.Client
	for i := range clients {
		if clients[i], err = skipstone.Dial(url, nil, nil); err != nil {
			return 0, 0, err
		}
		defer clients[i].CloseWith(skipstone.CodeNone, "", 0)
	}
	var isConnected [bots]bool
	for frame := 0; ctx.Err() == nil; frame++ {
		if _, err := clients[0].WaitTick(tick); err != nil {
			return worlds, dots, err
		}
		for i, client := range clients {
			for {
				events, err := client.Poll(0)
				if err != nil {
					return worlds, dots, err
				}
				if len(events) == 0 {
					break
				}
				for j := range events {
					switch event := &events[j]; event.Kind {
					case skipstone.Connected:
						isConnected[i] = true
					case skipstone.Message:
						worlds++
						dots = len(event.Payload) / binary.Size(dot{})
					case skipstone.Closed:
						return worlds, dots, errors.New(event.Close.Reason)
					}
				}
			}
			if isConnected[i] {
				sin, cos := math.Sincos(float64(frame)/20 + float64(i))
				wish, _ := binary.Append(nil, binary.LittleEndian, step{float32(cos), float32(sin)})
				if _, err := client.Send(inputs, wish); err != nil {
					return worlds, dots, err
				}
			}
		}
	}
	return worlds, dots, nil
}
