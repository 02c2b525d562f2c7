//! Counts why streams of a server's TCP port ended.

use super::sockets::StreamSocket;
use crate::driver_stats::StreamStats;
use crate::net::websocket::WsCloseReason;

impl StreamStats {
    /// Counts a stream that has ended.
    pub(super) fn note(&mut self, stream: &StreamSocket) {
        let count = match stream.ws.close_reason() {
            Some(WsCloseReason::Local | WsCloseReason::Remote) => &mut self.closed,
            Some(WsCloseReason::Lost) | None => &mut self.lost,
            Some(WsCloseReason::TimedOut) => &mut self.timed_out,
            Some(WsCloseReason::Answered) => &mut self.answered,
            Some(WsCloseReason::NoUpgrade) => &mut self.not_upgraded,
            Some(WsCloseReason::NotHttp | WsCloseReason::BadRequest | WsCloseReason::Refused) => {
                &mut self.malformed_requests
            }
            Some(WsCloseReason::HeadTooLarge) => &mut self.oversized_requests,
            Some(WsCloseReason::Protocol) => &mut self.broken_frames,
            Some(WsCloseReason::MessageTooLarge) => &mut self.oversized_messages,
            Some(WsCloseReason::Tls | WsCloseReason::TlsFailed) => &mut self.tls_failures,
            Some(WsCloseReason::OverBudget) => &mut self.over_budget,
            Some(WsCloseReason::BadProxy | WsCloseReason::UntrustedProxy) => &mut self.bad_proxy_headers,
            Some(WsCloseReason::InClear | WsCloseReason::NotTaken) => &mut self.not_taken,
            Some(WsCloseReason::Host | WsCloseReason::Origin) => &mut self.foreign,
        };
        *count += 1;
    }
}
