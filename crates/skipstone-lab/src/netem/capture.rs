//! Captures of both ends of a path, as IP packets with nanoseconds, for tcpdump, tshark and Wireshark. A separate
//! thread writes, so no packet ever waits for a disk.

use std::fs::File;
use std::io::BufWriter;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use etherparse::PacketBuilder;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, TsResolution};

use crate::report::output;

/// An end of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The end where the forward direction begins.
    A,
    /// The end where the forward direction ends.
    B,
}

/// Two captures under way. Dropped, they are written to their ends.
pub(crate) struct Capture {
    packets: Option<SyncSender<(End, Duration, Vec<u8>)>>,
    writer: Option<JoinHandle<()>>,
    missed: Arc<AtomicU64>,
    scratch: Vec<u8>,
}

/// The number of packets of up to 64 KiB that may wait for the disk: 256 MB in the worst case, 6 MB with a game's
/// packets.
const WAITING_MAX: usize = 4_096;

type Files = [PcapWriter<BufWriter<File>>; 2];

impl Capture {
    /// Begins `PREFIX-a.pcap` and `PREFIX-b.pcap`.
    pub(crate) fn begin(prefix: &str) -> Result<Capture, String> {
        let files = [open(&format!("{prefix}-a.pcap"))?, open(&format!("{prefix}-b.pcap"))?];
        let (packets, waiting) = sync_channel(WAITING_MAX);
        let missed = Arc::new(AtomicU64::new(0));
        let prefix = prefix.to_owned();
        let writer = std::thread::Builder::new().name("capture".into()).spawn(move || write(&prefix, files, &waiting));
        let writer = writer.map_err(|error| format!("no thread for the capture: {error}"))?;
        Ok(Capture { packets: Some(packets), writer: Some(writer), missed, scratch: Vec::new() })
    }

    /// An IP packet passed this end now.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "links of the kernel are Linux' own"))]
    pub(crate) fn ip(&mut self, end: End, packet: &[u8]) {
        self.push(end, packet.to_vec());
    }

    /// A datagram passed this end now. IPv4 and IPv6 addresses do not mix.
    pub(crate) fn udp(&mut self, end: End, from: SocketAddr, to: SocketAddr, payload: &[u8]) {
        let builder = match (from, to) {
            (SocketAddr::V4(from), SocketAddr::V4(to)) => PacketBuilder::ipv4(from.ip().octets(), to.ip().octets(), 64),
            (SocketAddr::V6(from), SocketAddr::V6(to)) => PacketBuilder::ipv6(from.ip().octets(), to.ip().octets(), 64),
            _ => return,
        };
        self.scratch.clear();
        if builder.udp(from.port(), to.port()).write(&mut self.scratch, payload).is_ok() {
            let packet = self.scratch.clone();
            self.push(end, packet);
        }
    }

    fn push(&mut self, end: End, packet: Vec<u8>) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let Some(packets) = &self.packets else { return };
        match packets.try_send((end, now, packet)) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => drop(self.missed.fetch_add(1, Ordering::Relaxed)),
            // The disk is full, which was said.
            Err(TrySendError::Disconnected(_)) => self.packets = None,
        }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.packets = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
        let missed = self.missed.load(Ordering::Relaxed);
        if missed > 0 {
            output::complain(format_args!("the disk was too slow: {missed} packets are missing in the captures"));
        }
    }
}

fn open(path: &str) -> Result<PcapWriter<BufWriter<File>>, String> {
    let file = File::create(path).map_err(|error| format!("cannot write the capture {path}: {error}"))?;
    let header =
        PcapHeader { datalink: DataLink::RAW, ts_resolution: TsResolution::NanoSecond, ..PcapHeader::default() };
    PcapWriter::with_header(BufWriter::new(file), header)
        .map_err(|error| format!("cannot write the capture {path}: {error}"))
}

fn write(prefix: &str, mut files: Files, waiting: &Receiver<(End, Duration, Vec<u8>)>) {
    for (end, at, packet) in waiting {
        let written = files[end as usize].write_packet(&PcapPacket::new(at, packet.len() as u32, &packet));
        if let Err(error) = written {
            output::complain(format_args!("the captures {prefix}-a.pcap and {prefix}-b.pcap end here: {error}"));
            return;
        }
    }
    for file in files {
        if let Err(error) = file.into_writer().into_inner() {
            output::complain(format_args!("the end of a capture {prefix} is missing: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use pcap_file::pcap::PcapReader;

    use super::*;

    #[test]
    fn both_ends_are_captured_with_addresses_and_times() {
        let prefix = std::env::temp_dir().join(format!("skipstone-capture-{}", std::process::id()));
        let prefix = prefix.to_str().unwrap();
        let mut capture = Capture::begin(prefix).unwrap();
        let (from, to) = ("127.0.0.1:4000".parse().unwrap(), "127.0.0.1:5000".parse().unwrap());
        capture.udp(End::A, from, to, b"there");
        capture.udp(End::B, from, to, b"there");
        capture.udp(End::B, to, from, b"back");
        drop(capture);
        for (end, payloads) in [("a", vec!["there"]), ("b", vec!["there", "back"])] {
            let path = format!("{prefix}-{end}.pcap");
            let mut reader = PcapReader::new(File::open(&path).unwrap()).unwrap();
            let mut found = Vec::new();
            while let Some(packet) = reader.next_packet() {
                let packet = packet.unwrap();
                assert_eq!(packet.timestamp.as_secs() / 1_000, packet_time() / 1_000);
                found.push(String::from_utf8_lossy(&packet.data[28..]).into_owned());
                assert_eq!(packet.data[0], 0x45);
            }
            assert_eq!(found, payloads);
            std::fs::remove_file(path).unwrap();
        }
    }

    fn packet_time() -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
    }
}
