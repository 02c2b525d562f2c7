//! One answer: bytes of the connection in, the whole answer out. Its sizes are bounded.

use super::response::HttpResponse;
use ureq_proto::BodyMode;
use ureq_proto::client::state::{RecvBody, RecvResponse};
use ureq_proto::client::{Call, RecvBodyResult, RecvResponseResult};

/// An answer under way.
#[derive(Debug)]
pub(super) struct Exchange {
    stage: Stage,
    inbox: Vec<u8>,
    response: HttpResponse,
    body_max: usize,
    /// Whether any byte of the answer has come.
    pub(super) has_begun: bool,
}

#[derive(Debug)]
enum Stage {
    Head(Call<RecvResponse>),
    Body(Call<RecvBody>),
    /// Whole. Whether the connection may be used again.
    Done {
        is_kept: bool,
    },
    Failed,
}

impl Exchange {
    pub(super) fn new(answer: Call<RecvResponse>, body_max: usize) -> Self {
        Exchange {
            stage: Stage::Head(answer),
            inbox: Vec::new(),
            response: HttpResponse::default(),
            body_max,
            has_begun: false,
        }
    }

    /// What the exchange waits for, for the sentence about a time-out.
    pub(super) fn waits_for(&self) -> &'static str {
        if matches!(self.stage, Stage::Head(_)) { "the answer" } else { "the end of the answer's body" }
    }

    /// Takes bytes of the answer. Returns whether it is whole.
    ///
    /// # Errors
    /// It is no answer, or a bound is passed: one sentence.
    pub(super) fn receive(&mut self, bytes: &[u8]) -> Result<bool, String> {
        self.has_begun |= !bytes.is_empty();
        self.inbox.extend_from_slice(bytes);
        loop {
            match std::mem::replace(&mut self.stage, Stage::Failed) {
                Stage::Head(mut call) => {
                    let (used, head) = call.try_response(&self.inbox, false).map_err(told)?;
                    self.inbox.drain(..used);
                    let Some(head) = head else {
                        self.stage = Stage::Head(call);
                        if used > 0 {
                            // An interim answer, 1xx.
                            continue;
                        }
                        if self.inbox.len() > HEAD_MAX {
                            return Err(format!("the answer's head has more than {HEAD_MAX} bytes"));
                        }
                        return Ok(false);
                    };
                    self.response.status = head.status().as_u16();
                    self.response.set_headers(head.headers());
                    self.stage = match call.proceed() {
                        Some(RecvResponseResult::RecvBody(body)) => Stage::Body(body),
                        Some(RecvResponseResult::Redirect(end)) => {
                            Stage::Done { is_kept: !end.must_close_connection() }
                        }
                        Some(RecvResponseResult::Cleanup(end)) => Stage::Done { is_kept: !end.must_close_connection() },
                        None => return Err("the answer has no head".into()),
                    };
                }
                Stage::Body(mut call) => {
                    self.read_body(&mut call)?;
                    if call.body_mode() == BodyMode::CloseDelimited || !call.can_proceed() {
                        self.stage = Stage::Body(call);
                        return Ok(false);
                    }
                    self.stage = done(call);
                }
                Stage::Done { is_kept } => {
                    // Bytes after an answer that no request asked for.
                    self.stage = Stage::Done { is_kept: is_kept && self.inbox.is_empty() };
                    return Ok(true);
                }
                Stage::Failed => return Err("the answer is over".into()),
            }
        }
    }

    /// The server has ended the connection. Returns whether the answer is whole.
    ///
    /// # Errors
    /// It has ended in the middle: one sentence.
    pub(super) fn end(&mut self) -> Result<(), String> {
        match std::mem::replace(&mut self.stage, Stage::Failed) {
            Stage::Body(call) if call.body_mode() == BodyMode::CloseDelimited || call.is_ended_chunked() => {
                self.stage = Stage::Done { is_kept: false };
                Ok(())
            }
            Stage::Done { .. } => Ok(()),
            Stage::Body(_) => Err(format!(
                "the server ended the connection in the answer's body, after {} bytes",
                self.response.body.len()
            )),
            _ if self.has_begun => Err("the server ended the connection in the answer's head".into()),
            _ => Err("the server ended the connection without an answer".into()),
        }
    }

    /// The whole answer, and whether the connection may be used again.
    pub(super) fn finish(self) -> (HttpResponse, bool) {
        (self.response, matches!(self.stage, Stage::Done { is_kept: true }))
    }

    fn read_body(&mut self, call: &mut Call<RecvBody>) -> Result<(), String> {
        if let BodyMode::LengthDelimited(length) = call.body_mode()
            && length > (self.body_max - self.response.body.len()) as u64
        {
            return Err(self.too_long());
        }
        let mut used = 0;
        let read = loop {
            let begin = self.response.body.len();
            self.response.body.resize(begin + PART, 0);
            let read = call.read(&self.inbox[used..], &mut self.response.body[begin..]);
            let (taken, made) = *read.as_ref().unwrap_or(&(0, 0));
            used += taken;
            self.response.body.truncate(begin + made);
            if self.response.body.len() > self.body_max {
                return Err(self.too_long());
            }
            if taken == 0 && made == 0 {
                break read;
            }
        };
        self.inbox.drain(..used);
        // A chunk's length that never ends is no body.
        if self.inbox.len() > HEAD_MAX {
            return Err("the answer's body is not framed as HTTP/1.1 frames it".into());
        }
        read.map(drop).map_err(told)
    }

    fn too_long(&self) -> String {
        format!("the answer's body has more than {} bytes: give a larger max", self.body_max)
    }
}

fn done(call: Call<RecvBody>) -> Stage {
    let is_kept = match call.proceed() {
        Some(RecvBodyResult::Redirect(end)) => !end.must_close_connection(),
        Some(RecvBodyResult::Cleanup(end)) => !end.must_close_connection(),
        None => false,
    };
    Stage::Done { is_kept }
}

fn told(error: ureq_proto::Error) -> String {
    format!("the server's answer is no HTTP/1.1: {error}")
}

/// Bytes of an answer's first line and headers.
const HEAD_MAX: usize = 64 << 10;
/// Bytes of a body that are taken at a time.
const PART: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use super::super::request::{HttpOptions, HttpRequest};
    use super::*;

    fn exchange(method: &str, body_max: usize) -> Exchange {
        let request = HttpRequest::new(method, "http://h/", HttpOptions::default()).expect("sound");
        Exchange::new(request.encode().expect("sound").1, body_max)
    }

    /// The answer to a GET, cut into parts of this size, with the end of the connection after it.
    fn answered(answer: &[u8], cut: usize) -> Result<(HttpResponse, bool), String> {
        let mut exchange = exchange("GET", 1000);
        for part in answer.chunks(cut) {
            if exchange.receive(part)? {
                return Ok(exchange.finish());
            }
        }
        exchange.end()?;
        Ok(exchange.finish())
    }

    #[test]
    fn an_answer_is_whole_however_it_is_cut() {
        let chunked =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: a\r\nX: b\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";
        let counted = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nhello";
        let closed = b"HTTP/1.0 200 OK\r\n\r\nhello";
        for cut in [1, 2, 7, 1000] {
            let (response, is_kept) = answered(chunked, cut).expect("an answer");
            assert_eq!((response.status, &response.body[..], is_kept), (200, &b"hello"[..], true), "{cut}");
            assert_eq!(response.headers["x"], b"a, b");
            let (response, is_kept) = answered(counted, cut).expect("an answer");
            assert_eq!((response.status, &response.body[..], is_kept), (201, &b"hello"[..], true), "{cut}");
            let (response, is_kept) = answered(closed, cut).expect("an answer");
            assert_eq!((&response.body[..], is_kept), (&b"hello"[..], false), "{cut}");
        }
        let (response, is_kept) =
            answered(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", 5).expect("an answer");
        assert_eq!((response.status, is_kept), (204, false));
        let (_, is_kept) = answered(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc", 100).expect("an answer");
        assert!(!is_kept, "bytes after the answer");
    }

    #[test]
    fn an_answer_that_is_cut_off_garbage_or_endless_is_an_error() {
        let endless_head = [&b"HTTP/1.1 200 OK\r\nX: "[..], &[b'a'; HEAD_MAX + 10]].concat();
        let endless_chunk =
            [&b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"[..], &[b'0'; HEAD_MAX * 2]].concat();
        for (answer, part) in [
            (&b""[..], "without an answer"),
            (b"HTTP/1.1 200", "in the answer's head"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel", "after 3 bytes"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", "more than 1000 bytes"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n", "more than 1000 bytes"),
            (b"SSH-2.0-OpenSSH\r\n\r\n", "no HTTP/1.1"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "no HTTP/1.1"),
            (&endless_head, "head has more than"),
            (&endless_chunk, ""),
        ] {
            for cut in [1000, usize::MAX] {
                let why = answered(answer, cut).expect_err("no answer");
                assert!(why.contains(part), "{why}");
            }
        }
        let long = [&b"HTTP/1.0 200 OK\r\n\r\n"[..], &[0; 1001]].concat();
        assert!(answered(&long, 10).expect_err("too long").contains("more than 1000 bytes"));
    }

    #[test]
    fn an_answer_to_head_has_no_body() {
        let mut head = exchange("HEAD", 10);
        assert_eq!(head.receive(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"), Ok(true));
        assert!(head.finish().1);
    }
}
