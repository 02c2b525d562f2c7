package skipstone

// #cgo noescape skipstone_server_broadcast_except
// #cgo nocallback skipstone_server_broadcast_except
// #include "skipstone.h"
import "C"

import "runtime"

// BroadcastExcept is [Server.Broadcast] without some members: usually the author of a message that is passed on. A peer
// in except that is not a member, or has disconnected, is ignored.
func (s *Server) BroadcastExcept(group Group, except []Peer, channel uint16, payload []byte) (MessageID, int, error) {
	defer runtime.KeepAlive(s)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	left := make([]C.SkipstonePeer, len(except)+1)
	for at, peer := range except {
		left[at] = C.SkipstonePeer(peer)
	}
	var id C.uint64_t
	var peers C.uint32_t
	err := check(C.skipstone_server_broadcast_except(
		s.server(), C.SkipstoneGroup(group), &left[0], C.uint32_t(len(except)), C.uint16_t(channel), bytesOf(payload),
		C.size_t(len(payload)), &peers, &id))
	return MessageID(id), int(peers), err
}

// Peers are those that are connected.
func (s *Server) Peers() ([]Peer, error) {
	var count C.uint32_t
	for {
		raw := make([]C.SkipstonePeer, count+1)
		capacity := C.uint32_t(len(raw))
		err := s.call(func() C.SkipstoneStatus { return C.skipstone_server_peers(s.server(), &raw[0], capacity, &count) })
		if err != nil {
			return nil, err
		}
		if count <= capacity {
			peers := make([]Peer, count)
			for at := range peers {
				peers[at] = Peer(raw[at])
			}
			return peers, nil
		}
	}
}

// RemoteAddr is the address of a client, from its [Requested] event until its [Closed] event was polled;
// [ErrNotAvailable] if there is no such client.
func (s *Server) RemoteAddr(peer Peer) (string, error) {
	return s.text(func(buffer *C.char, capacity C.size_t, length *C.size_t) C.SkipstoneStatus {
		return C.skipstone_server_peer_address(s.server(), C.SkipstonePeer(peer), buffer, capacity, length)
	})
}

// SetDenied denies these addresses and networks ("192.0.2.7", "192.0.2.0/24") and no others: new clients from them are
// ignored on every carrier. Connected players on UDP (native, DTLS, WebTransport) are ignored too and end by the idle
// timeout; those on streams and local clients stay connected: end them first, by [Server.Disconnect].
func (s *Server) SetDenied(networks []string) error {
	var memory arena
	defer memory.free()
	texts := memory.texts("a network", networks)
	if memory.err != nil {
		return memory.err
	}
	return s.call(func() C.SkipstoneStatus {
		return C.skipstone_server_set_denied(s.server(), texts, C.uint32_t(len(networks)))
	})
}
