//! Runs of messages among other frames.

use crate::wire::cursor::Writer;
use crate::wire::frame::{Frame, Frames};
use crate::wire::message::{MessageEncoder, Sequence};
use crate::wire::number::Truncated;
use crate::wire::settings::window_cost;

fn run_of(lengths: &[usize]) -> Vec<u8> {
    let mut buffer = vec![0; 100_000];
    let mut writer = Writer::new(&mut buffer);
    let mut run = MessageEncoder::default();
    for (at, length) in (0..).zip(lengths) {
        let sequence = Some((at, Truncated::new(at.into(), 10)));
        run.encode_header(&mut writer, 3, sequence, None, *length);
        writer.bytes(&vec![at as u8; *length]);
    }
    writer.written().to_vec()
}

#[test]
fn a_run_has_the_same_messages_as_single_frames() {
    let lengths = [20, 20, 0, 0, 12, 13, 13, 64, 16_384, 16_384, 7];
    let bytes = run_of(&lengths);
    let one_by_one: Vec<_> = Frames::new(&bytes).map(|frame| frame.expect("it is well-formed")).collect();
    let mut frames = Frames::new(&bytes);
    assert!(matches!(frames.next(), Some(Ok(Frame::Message(_)))));
    let run = frames.run();
    assert_eq!((run.count, run.payload_bytes_max, run.last), (10, 16_384, 7));
    assert_eq!(run.payload_bytes, lengths[1..].iter().sum::<usize>());
    assert_eq!(run.window_cost, lengths[1..].iter().map(|length| window_cost(*length)).sum::<u64>());
    let mut place = run.first;
    for frame in &one_by_one[1..] {
        let Frame::Message(message) = frame else { panic!("{frame:?} is no message") };
        let payload = place.take(run.bytes).expect("the run is as long");
        assert_eq!((message.sequence, message.payload), (Sequence::Next, &run.bytes[payload]));
    }
    assert_eq!(place.take(run.bytes), None);
    frames.skip_run(&run);
    assert!(frames.next().is_none());
}

#[test]
fn a_run_ends_before_anything_but_a_plain_message() {
    let plain = run_of(&[20, 20, 20]);
    for (behind, what) in [
        (&[][..], "the end"),
        (&[0x01][..], "a PING"),
        (&[0xC0, 0x04, 0x8E][..], "another channel"),
        (&[0xA0, 0x09][..], "another sequence"),
        (&[0x8F, 1, 2][..], "the rest of the packet"),
        (&[0x8D, 1, 2][..], "a message that is cut off"),
        (&[0x8E, 0xFF, 0xFF][..], "a length that is cut off"),
        (&[0x8E, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF][..], "a length beyond everything"),
    ] {
        let bytes = [&plain[..], behind].concat();
        let mut frames = Frames::new(&bytes);
        let _ = frames.next();
        let run = frames.run();
        assert_eq!(run.count, 2, "{what}");
        frames.skip_run(&run);
        assert_eq!(frames.remaining(), behind.len(), "{what}");
    }
}

#[test]
fn messages_without_a_sequence_form_no_run() {
    let bytes = [&[0x8E, 20][..], &[7; 20], &[0x8D], &[8; 20]].concat();
    let mut frames = Frames::new(&bytes);
    assert_eq!(frames.run().count, 0, "nor at the beginning");
    assert!(frames.next().is_some_and(|frame| frame.is_ok()));
    let run = frames.run();
    assert_eq!(run.count, 0);
    frames.skip_run(&run);
    assert!(matches!(frames.next(), Some(Ok(Frame::Message(message))) if message.payload.len() == 20), "as before");
}
