//! `vectors/golden.json` against the codec: every datagram decodes to the content that is written next to it, and
//! encodes to the same bytes again. `vectors/README.md` describes the format and how to renew it (`SKIPSTONE_BLESS=1`).

use std::time::Duration;

use serde_json::{Map, Value, json};
use siphasher::sip::SipHasher24;
use skipstone_proto::RedundancyMode;
use skipstone_proto::wire::Malformed;
use skipstone_proto::wire::ack::{Ack, PacketRanges, encode_ack, encode_repaired};
use skipstone_proto::wire::cursor::{Reader, Writer};
use skipstone_proto::wire::datagram::{self, Datagram};
use skipstone_proto::wire::frame::{self, Frame, Frames};
use skipstone_proto::wire::message::{Message, MessageEncoder, Sequence};
use skipstone_proto::wire::number::Truncated;
use skipstone_proto::wire::repair::encode_repair_header;
use skipstone_proto::{ChannelRule, DeliveryMode, Limits, Merging, Overflow, Settings};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/golden.json");

#[test]
fn golden_vectors_decode_and_reencode() {
    let text = std::fs::read_to_string(GOLDEN).expect("vectors/golden.json can be read");
    let mut vectors: Vec<Value> = serde_json::from_str(&text).expect("it is a list in JSON");
    if std::env::var_os("SKIPSTONE_BLESS").is_some() {
        vectors.iter_mut().for_each(bless);
        std::fs::write(GOLDEN, render(&vectors)).expect("vectors/golden.json can be written");
    }
    assert!(vectors.len() > 150, "most vectors are missing");
    vectors.iter().for_each(check);
}

fn check(vector: &Value) {
    let name = vector["name"].as_str().expect("a vector has a name");
    let bytes = unhex(vector["hex"].as_str().expect("a vector has bytes"));
    let context = Context::of(vector);
    let decoded = context.decode(&bytes);
    let is_malformed = decoded.is_err();
    assert_eq!(name.starts_with("malformed: "), is_malformed, "{name}: as its name says");
    assert_eq!(to_json(decoded), vector["expect"], "{name}");
    if is_malformed {
        return;
    }

    let encoded = context.encode(&bytes);
    if vector["canonical"] == json!(false) {
        assert_ne!(hex(&encoded), hex(&bytes), "{name}: is canonical after all");
        let (again, expect) = (to_json(context.decode(&encoded)), vector["expect"].clone());
        assert_eq!(meaning(again), meaning(expect), "{name}: encoded again");
    } else {
        assert_eq!(hex(&encoded), hex(&bytes), "{name}: encoded again");
    }
}

/// Fills in the tag and the check, where there are question marks for them, and the decoded datagram.
fn bless(vector: &mut Value) {
    let context = Context::of(vector);
    let mut written = vector["hex"].as_str().expect("a vector has bytes").to_owned();
    let is_unchecked = !written.starts_with("80") && written.ends_with(" ????????");
    written.truncate(written.len() - if is_unchecked { 9 } else { 0 });
    if let Some(untagged) = written.strip_suffix("????????????????") {
        let bytes = unhex(untagged);
        let key = context.key(&bytes).expect("a sealed packet has a key");
        let tag = tag(key, &bytes, context.number(&bytes).unwrap_or(0));
        written = format!("{untagged}{}", hex(&tag));
    }
    if is_unchecked {
        let check = crc32fast::hash(&unhex(&written)).to_be_bytes();
        written = format!("{written} {}", hex(&check));
    }
    vector["hex"] = json!(written);
    let bytes = unhex(vector["hex"].as_str().expect("a vector has bytes"));
    vector["expect"] = to_json(context.decode(&bytes));
}

fn to_json(decoded: Result<Value, Malformed>) -> Value {
    decoded.unwrap_or_else(|Malformed| json!("malformed"))
}

/// Without the encoding in which its numbers were sent.
fn meaning(mut decoded: Value) -> Value {
    match &mut decoded {
        Value::Object(fields) => match fields.remove("resolved") {
            Some(resolved) => return resolved,
            None => fields.values_mut().for_each(|value| *value = meaning(value.take())),
        },
        Value::Array(items) => items.iter_mut().for_each(|item| *item = meaning(item.take())),
        _ => {}
    }
    decoded
}

/// A datagram without its check.
fn unchecked(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len() - datagram::CHECK_BYTES]
}

/// A datagram with its check, whose content is `length` bytes long.
fn checked(buffer: &mut [u8], length: usize) -> Vec<u8> {
    let end = datagram::append_check(buffer, length);
    buffer[..end].to_vec()
}

/// The state that the receiver of a vector has before.
struct Context {
    key: Option<[u8; 16]>,
    packet: u64,
    ack: u64,
    sequence: u32,
}

impl Context {
    fn of(vector: &Value) -> Context {
        let reference = |name: &str| vector["references"][name].as_u64().unwrap_or(0);
        Context {
            key: vector["key"].as_str().map(|key| unhex(key).try_into().expect("16 bytes of key")),
            packet: reference("packet"),
            ack: reference("ack"),
            sequence: reference("sequence").try_into().expect("a sequence has 32 bits"),
        }
    }

    /// The given key or, in an OPEN, the end of its cookie.
    fn key(&self, bytes: &[u8]) -> Option<[u8; 16]> {
        let is_open = bytes.first() == Some(&datagram::KIND_OPEN);
        if is_open { bytes.get(22..38)?.try_into().ok() } else { self.key }
    }

    /// The packet number of a datagram, of which the tag may be missing.
    fn number(&self, bytes: &[u8]) -> Result<u64, Malformed> {
        let from = datagram::decode_open(bytes).map_or(datagram::HEADER_BYTES, |open| open.header_bytes());
        Ok(Reader::new(bytes.get(from..).ok_or(Malformed)?).truncated()?.resolve(self.packet))
    }

    fn decode(&self, bytes: &[u8]) -> Result<Value, Malformed> {
        Ok(match datagram::decode(bytes)? {
            Datagram::Packet { to } => {
                let (number, frames) = self.open(bytes, datagram::HEADER_BYTES)?;
                json!({"kind": "PACKET", "to": id(to), "number": number_json(number, self.packet),
                    "frames": self.frames(number, frames)?})
            }
            Datagram::Hello(hello) => json!({"kind": "HELLO", "source": id(hello.source),
                "nonce": nonce(hello.nonce), "suites": hello.offer.suites,
                "versions": hello.offer.versions.collect::<Vec<_>>()}),
            Datagram::Challenge(challenge) => json!({"kind": "CHALLENGE", "to": id(challenge.to),
                "nonce": nonce(challenge.nonce), "version": challenge.version,
                "suite": challenge.suite, "cookie": hex(challenge.cookie)}),
            Datagram::Open(open) => {
                let mut value = json!({"kind": "OPEN", "source": id(open.source),
                    "nonce": nonce(open.nonce), "version": open.version, "suite": open.suite,
                    "cookie": hex(open.cookie), "offer": hex(open.offer.bytes)});
                if open.suite == datagram::SUITE_PLAIN {
                    let (number, frames) = self.open(unchecked(bytes), open.header_bytes())?;
                    value["number"] = number_json(number, self.packet);
                    value["frames"] = self.frames(number, frames)?;
                } else {
                    value["bytes"] = json!(hex(&unchecked(bytes)[open.header_bytes()..]));
                }
                value
            }
            Datagram::Crypto { to, from, bytes } => {
                json!({"kind": "CRYPTO", "to": id(to), "from": id(from), "bytes": hex(bytes)})
            }
            Datagram::Versions { to, nonce: number, versions } => json!({"kind": "VERSIONS",
                "to": id(to), "nonce": nonce(number), "versions": versions.collect::<Vec<_>>()}),
            Datagram::Reset { id: number } => json!({"kind": "RESET", "id": id(number)}),
            Datagram::Query { nonce: number } => json!({"kind": "QUERY", "nonce": nonce(number)}),
            Datagram::Answer { nonce: number, versions, payload } => json!({"kind": "ANSWER",
                "nonce": nonce(number), "versions": versions.collect::<Vec<_>>(), "payload": hex(payload)}),
            Datagram::Refuse { to, nonce: number, code, reason } => json!({"kind": "REFUSE",
                "to": id(to), "nonce": nonce(number), "code": code, "reason": reason}),
        })
    }

    /// Checks the tag and takes the packet number off.
    fn open<'a>(&self, bytes: &'a [u8], from: usize) -> Result<(Truncated, &'a [u8]), Malformed> {
        let (untagged, found) = bytes.split_last_chunk().ok_or(Malformed)?;
        let key = self.key(bytes).expect("a vector with a sealed packet has a key");
        let packet = untagged.get(from..).ok_or(Malformed)?;
        let mut reader = Reader::new(packet);
        let number = reader.truncated()?;
        if *found != tag(key, untagged, number.resolve(self.packet)) {
            return Err(Malformed);
        }
        Ok((number, reader.rest()))
    }

    fn frames(&self, number: Truncated, frames: &[u8]) -> Result<Value, Malformed> {
        let mut before = None;
        let number = number.resolve(self.packet);
        let frames: Result<Vec<Value>, Malformed> =
            Frames::new(frames).map(|frame| self.frame(number, frame?, &mut before)).collect();
        Ok(json!(frames?))
    }

    fn frame(&self, number: u64, frame: Frame<'_>, before: &mut Option<u32>) -> Result<Value, Malformed> {
        Ok(match frame {
            Frame::Padding => json!({"frame": "PADDING"}),
            Frame::Ping => json!({"frame": "PING"}),
            Frame::Ack(ack) => json!({
                "frame": if ack.window.is_some() { "ACK_WINDOW" } else { "ACK" },
                "largest": number_json(ack.largest, self.ack), "delay_us": ack.delay_us,
                "ranges": ranges_json(ack.ranges(ack.largest.resolve(self.ack)))?, "window": ack.window}),
            Frame::Repaired(repaired) => json!({"frame": "REPAIRED",
                "largest": number_json(repaired.largest, self.ack),
                "ranges": ranges_json(repaired.ranges(repaired.largest.resolve(self.ack)))?}),
            Frame::Repair(repair) => json!({"frame": "REPAIR", "index": repair.index,
                "ranges": ranges_json(repair.covers(number)?)?, "symbol": hex(repair.symbol)}),
            Frame::Late { age_ms } => json!({"frame": "LATE", "age_ms": age_ms}),
            Frame::Connect { token, limits } => {
                json!({"frame": "CONNECT", "token": hex(token), "limits": limits_json(limits)?})
            }
            Frame::Extension { kind, body } => json!({"frame": "EXTENSION", "type": kind, "body": hex(body)}),
            Frame::Accept { source, settings } => json!({"frame": "ACCEPT", "source": id(source),
                "settings": settings_json(&Settings::decode(settings)?)}),
            Frame::Closed => json!({"frame": "CLOSED"}),
            Frame::PathChallenge { token } => json!({"frame": "PATH_CHALLENGE", "token": format!("{token:016x}")}),
            Frame::PathResponse { token } => json!({"frame": "PATH_RESPONSE", "token": format!("{token:016x}")}),
            Frame::NewId { sequence, id: new } => json!({"frame": "NEW_ID", "sequence": sequence, "id": id(new)}),
            Frame::TimeRequest { sent_us } => json!({"frame": "TIME_REQUEST", "sent_us": sent_us}),
            Frame::TimeResponse { sent_us, server_us, held_us } => {
                json!({"frame": "TIME_RESPONSE", "sent_us": sent_us, "server_us": server_us, "held_us": held_us})
            }
            Frame::Close { code, reason } => {
                json!({"frame": "CLOSE", "code": code, "reason": reason})
            }
            Frame::Message(message) => {
                let sequence = self.sequence(&message, before);
                let fragment =
                    message.fragment.map(|fragment| json!({"offset": fragment.offset, "total": fragment.total}));
                json!({"frame": "MESSAGE", "channel": message.channel, "sequence": sequence,
                    "fragment": fragment, "payload": hex(message.payload)})
            }
        })
    }

    fn sequence(&self, message: &Message<'_>, before: &mut Option<u32>) -> Value {
        let (resolved, value) = self.resolve(message.sequence, *before);
        *before = resolved;
        value
    }

    fn resolve(&self, sequence: Sequence, before: Option<u32>) -> (Option<u32>, Value) {
        match sequence {
            Sequence::None => (None, Value::Null),
            Sequence::Next => {
                let next = before.expect("the decoder knows of a sequence before").wrapping_add(1);
                (Some(next), json!({"next": true, "resolved": next}))
            }
            Sequence::Truncated(Truncated { value, bits }) => {
                let number = Truncated { value, bits }.resolve_seq(self.sequence);
                (Some(number), json!({"bits": bits, "value": value, "resolved": number}))
            }
        }
    }

    /// Decodes `bytes`, which are not malformed, and encodes the result.
    fn encode(&self, bytes: &[u8]) -> Vec<u8> {
        let mut buffer = vec![0xee; 65_507];
        let mut w = Writer::new(&mut buffer);
        match datagram::decode(bytes).expect("it decoded before") {
            Datagram::Packet { to } => {
                datagram::encode_packet_header(&mut w, to);
                self.encode_sealed(&mut w, bytes, datagram::HEADER_BYTES);
            }
            Datagram::Hello(hello) => {
                let versions: Vec<u16> = hello.offer.versions.collect();
                let offer = datagram::encode_offer(hello.offer.suites, &versions);
                datagram::encode_hello(&mut w, hello.source, hello.nonce, &offer);
            }
            Datagram::Challenge(challenge) => datagram::encode_challenge(&mut w, &challenge),
            Datagram::Open(open) => {
                datagram::encode_open_header(&mut w, &open);
                if open.suite == datagram::SUITE_PLAIN {
                    self.encode_sealed(&mut w, unchecked(bytes), open.header_bytes());
                } else {
                    w.bytes(&unchecked(bytes)[open.header_bytes()..]);
                }
                let length = w.len();
                return checked(&mut buffer, length);
            }
            Datagram::Crypto { to, from, bytes } => {
                datagram::encode_crypto_header(&mut w, to, from);
                w.bytes(bytes);
                let length = w.len();
                return checked(&mut buffer, length);
            }
            Datagram::Versions { to, nonce, versions } => {
                datagram::encode_versions(&mut w, to, nonce, &versions.collect::<Vec<_>>());
            }
            Datagram::Reset { id } => datagram::encode_reset(&mut w, id),
            Datagram::Query { nonce } => datagram::encode_query(&mut w, nonce, datagram::QUERY_BYTES_MIN),
            Datagram::Answer { nonce, versions, payload } => {
                datagram::encode_answer(&mut w, nonce, &versions.collect::<Vec<_>>(), payload);
            }
            Datagram::Refuse { to, nonce, code, reason } => {
                datagram::encode_refuse(&mut w, to, nonce, code, reason);
            }
        }
        w.written().to_vec()
    }

    fn encode_sealed(&self, w: &mut Writer<'_>, bytes: &[u8], from: usize) {
        let (number, frames) = self.open(bytes, from).expect("it opened before");
        w.truncated(number);
        let number = number.resolve(self.packet);
        let mut run = MessageEncoder::default();
        let mut before = None;
        for frame in Frames::new(frames) {
            match frame.expect("it decoded before") {
                Frame::Padding => w.zeros(1),
                Frame::Ping => frame::encode_ping(w),
                Frame::Ack(ack) => self.encode_ack(w, &ack),
                Frame::Repaired(repaired) => {
                    let ranges = repaired.ranges(repaired.largest.resolve(self.ack));
                    let ranges = ranges.map(|range| range.expect("valid"));
                    assert!(encode_repaired(w, ranges, distance(repaired.largest), 0), "there is room");
                }
                Frame::Repair(repair) => {
                    let ranges = repair.covers(number).expect("valid").map(|range| range.expect("valid"));
                    encode_repair_header(w, number, repair.index, ranges);
                    w.bytes(repair.symbol);
                }
                Frame::Late { age_ms } => {
                    frame::encode_late(w, age_ms.try_into().expect("no longer than an encoder would have it"));
                }
                Frame::Connect { token, limits } => {
                    let limits = Limits::decode(limits).expect("they decoded before");
                    frame::encode_connect(w, token, &limits.encode());
                }
                Frame::Extension { kind, body } => frame::encode_extension(w, kind, body),
                Frame::Accept { source, settings } => {
                    let settings = Settings::decode(settings).expect("it decoded before");
                    frame::encode_accept(w, source, &settings.encode());
                }
                Frame::Close { code, reason } => frame::encode_close(w, code, reason),
                Frame::Closed => frame::encode_closed(w),
                Frame::PathChallenge { token } => frame::encode_path_challenge(w, token),
                Frame::PathResponse { token } => frame::encode_path_response(w, token),
                Frame::NewId { sequence, id } => frame::encode_new_id(w, sequence, id),
                Frame::TimeRequest { sent_us } => frame::encode_time_request(w, sent_us),
                Frame::TimeResponse { sent_us, server_us, held_us } => {
                    frame::encode_time_response(w, sent_us, server_us, held_us);
                }
                Frame::Message(Message { channel, sequence, fragment, payload }) => {
                    (before, _) = self.resolve(sequence, before);
                    let truncated = match sequence {
                        Sequence::Truncated(truncated) => truncated,
                        // The value is not written, so any would do.
                        Sequence::None | Sequence::Next => Truncated { value: 0, bits: 7 },
                    };
                    let number = before.map(|number| (number, truncated));
                    run.encode_header(w, channel, number, fragment, payload.len());
                    w.bytes(payload);
                }
            }
        }
        let key = self.key(bytes).expect("it opened before");
        w.bytes(&tag(key, w.written(), number));
    }

    fn encode_ack(&self, w: &mut Writer<'_>, ack: &Ack<'_>) {
        let ranges = ack.ranges(ack.largest.resolve(self.ack)).map(|range| range.expect("valid"));
        assert!(encode_ack(w, ranges, distance(ack.largest), ack.delay_us, ack.window), "there is room");
    }
}

/// The greatest distance for which these bits suffice.
fn distance(number: Truncated) -> u64 {
    (1 << (number.bits - 1)) - 1
}

fn tag(key: [u8; 16], untagged: &[u8], number: u64) -> [u8; 8] {
    let check = crc32fast::hash(untagged).to_be_bytes();
    SipHasher24::new_with_key(&key).hash(&[&number.to_be_bytes()[..], &check].concat()).to_be_bytes()
}

fn limits_json(limits: &[u8]) -> Result<Value, Malformed> {
    let Limits { message_bytes_max, window_bytes, datagram_bytes_max } = Limits::decode(limits)?;
    Ok(json!({"message_bytes_max": message_bytes_max, "window_bytes": window_bytes,
        "datagram_bytes_max": datagram_bytes_max}))
}

fn ranges_json(ranges: PacketRanges<'_>) -> Result<Vec<[u64; 2]>, Malformed> {
    ranges.map(|range| range.map(|range| [*range.start(), *range.end()])).collect()
}

fn number_json(number: Truncated, reference: u64) -> Value {
    json!({"bits": number.bits, "value": number.value, "resolved": number.resolve(reference)})
}

fn settings_json(settings: &Settings) -> Value {
    let millis = |duration: Duration| duration.as_millis() as u64;
    let micros = |duration: Duration| duration.as_micros() as u64;
    json!({
        "idle_timeout_ms": millis(settings.idle_timeout), "keepalive_ms": millis(settings.keepalive),
        "ack_delay_us": micros(settings.ack_delay), "ack_delay_max_us": micros(settings.ack_delay_max),
        "message_bytes_max": settings.message_bytes_max, "window_bytes": settings.window_bytes,
        "datagram_bytes_max": settings.datagram_bytes_max, "moves_channel": settings.moves_channel,
        "merging": match settings.merging {
            Merging::Immediate => json!("immediate"),
            Merging::After(delay) => json!({"after_us": micros(delay)}),
            Merging::Flush => json!("flush"),
        },
        "channels": settings.channels.iter().map(rule_json).collect::<Vec<_>>(),
        "redundancy": {"mode": mode_json(settings.redundancy.mode),
            "budget_percent": settings.redundancy.budget_percent},
    })
}

fn mode_json(mode: RedundancyMode) -> Value {
    match mode {
        RedundancyMode::Off => json!("off"),
        RedundancyMode::Lean => json!("lean"),
        RedundancyMode::Adaptive => json!("adaptive"),
        RedundancyMode::Fixed { sources, repairs } => json!({"sources": sources, "repairs": repairs}),
        RedundancyMode::Repeat { bursts } => json!({"bursts": bursts}),
    }
}

fn rule_json(rule: &ChannelRule) -> Value {
    json!({
        "first": rule.first, "last": rule.last,
        "mode": match rule.mode {
            DeliveryMode::Unreliable => "unreliable",
            DeliveryMode::UnreliableSequenced => "unreliable-sequenced",
            DeliveryMode::ReliableOrdered => "reliable-ordered",
            DeliveryMode::ReliableUnordered => "reliable-unordered",
            DeliveryMode::ReliableSequenced => "reliable-sequenced",
        },
        "priority": rule.priority, "weight": rule.weight,
        "overflow": match rule.overflow {
            Overflow::Refuse => "refuse",
            Overflow::DropOldest => "drop oldest",
            Overflow::Disconnect => "disconnect",
        },
        "receipts": rule.receipts, "queue_messages_max": rule.queue_messages_max,
        "queue_bytes_max": rule.queue_bytes_max, "redundancy": rule.redundancy.map(mode_json),
    })
}

fn id(id: u32) -> String {
    format!("{id:06x}")
}

fn nonce(nonce: u64) -> String {
    format!("{nonce:016x}")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Spaces are only for readers.
fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> =
        text.chars().filter(|c| *c != ' ').map(|c| c.to_digit(16).expect("a hexadecimal digit")).collect();
    assert!(digits.len().is_multiple_of(2), "half a byte in {text}");
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

/// JSON with a line for each field of a vector, and for each frame.
fn render(vectors: &[Value]) -> String {
    let vectors: Vec<String> = vectors.iter().map(|vector| render_object(vector, 0)).collect();
    format!("[\n{}\n]\n", vectors.join(",\n"))
}

/// A vector or its expected result, whose fields and frames have lines of their own.
fn render_object(object: &Value, indent: usize) -> String {
    let fields = in_order(object.as_object().expect("an object"));
    let outer = " ".repeat(indent);
    let lines: Vec<String> = fields
        .into_iter()
        .map(|(name, value)| {
            let value = match value {
                Value::Object(_) if name == "expect" => render_object(value, indent + 1).trim_start().to_owned(),
                Value::Array(items) if name == "frames" && !items.is_empty() => {
                    let frames: Vec<String> =
                        items.iter().map(|item| format!("{outer}  {}", render_line(item))).collect();
                    format!("[\n{}\n{outer} ]", frames.join(",\n"))
                }
                value => render_line(value),
            };
            format!("{outer} {}: {value}", json!(name))
        })
        .collect();
    format!("{outer}{{\n{}\n{outer}}}", lines.join(",\n"))
}

fn render_line(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: Vec<String> = in_order(fields)
                .into_iter()
                .map(|(name, value)| format!("{}: {}", json!(name), render_line(value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(render_line).collect();
            format!("[{}]", items.join(", "))
        }
        value => value.to_string(),
    }
}

fn in_order(fields: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_by_key(|(name, _)| {
        let place = FIELDS.iter().position(|field| field == name).unwrap_or(FIELDS.len());
        (place, name.as_str() == "frames", *name)
    });
    fields
}

/// Fields in the order in which they are written; the others follow by their names.
const FIELDS: [&str; 21] = [
    "name",
    "hex",
    "key",
    "references",
    "canonical",
    "expect",
    "kind",
    "frame",
    "to",
    "from",
    "source",
    "nonce",
    "number",
    "channel",
    "sequence",
    "largest",
    "first",
    "last",
    "code",
    "bits",
    "value",
];
