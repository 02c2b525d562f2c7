// Package skipstone is a low-level transport for multiplayer games: native players over UDP and browsers over
// WebTransport and WebSocket arrive through one port and one list of events, on reliable and unreliable channels.
//
//	server, err := skipstone.Listen("127.0.0.1:7777", nil)
//	if err != nil {
//		log.Fatal(err) // the text says what to do
//	}
//	defer server.Close()
//	for {
//		// Events that come meanwhile do not shorten the tick.
//		if _, err := server.WaitTick(16 * time.Millisecond); err != nil {
//			log.Fatal(err)
//		}
//		for {
//			events, err := server.Poll(0)
//			if err != nil {
//				log.Fatal(err)
//			}
//			if len(events) == 0 {
//				break // a Poll returns one batch; more may be waiting
//			}
//			for i := range events {
//				switch event := &events[i]; event.Kind {
//				case skipstone.Requested:
//					server.Accept(event.Peer)
//				case skipstone.Message:
//					server.Send(event.Peer, event.Channel, event.Payload)
//				}
//			}
//		}
//		server.Flush()
//	}
//
// The protocol is the Rust library's, called through its C interface; the library's own threads send and receive. Every
// method may be called from any goroutine; events are polled by one at a time.
//
// Invalid requests are errors of type [*Error], which state the remedy and which [errors.Is] compares with
// [ErrQueueFull] and the others. A fault of the network is never an error: a connection ends with one event of the kind
// [Closed], which has the reason.
package skipstone
