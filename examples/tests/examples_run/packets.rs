//! The packet types of `proto/game.proto` have the same encoding in every language: `proto/packets.txt` has one packet
//! of each type as encoded here, and the tests in C and C# decode and encode the same bytes.

use prost::Message;
use skipstone_examples::typed::game::{ChatLine, Player, PlayerInput, Snapshot, Welcome};

const HEAD: &str = "\
# Packets of game.proto as Rust writes them, in hexadecimal. If it is wrong, examples/tests/examples_run/packets.rs
# rewrites this file; clients/c/tests/packets.c and clients/csharp/packets have the same values.
";

/// One packet of each type, and an empty one.
fn packets() -> [(&'static str, Vec<u8>); 6] {
    let player = |id, x, y, frame| Player { id, x, y, frame };
    let players = vec![player(1, 1.5, -2.25, 300), player(u32::MAX, 0.0, 0.0, 0)];
    [
        ("PlayerInput", PlayerInput { frame: 300, move_x: 0.5, move_y: -1.0 }.encode_to_vec()),
        ("Player", player(7, -0.25, 1_000.0, 65_536).encode_to_vec()),
        ("Snapshot", Snapshot { tick: 70_000, players }.encode_to_vec()),
        ("Welcome", Welcome { id: 200 }.encode_to_vec()),
        ("ChatLine", ChatLine { text: "grüß 世界".into() }.encode_to_vec()),
        ("EmptyChatLine", ChatLine::default().encode_to_vec()),
    ]
}

#[test]
fn the_file_matches_rusts_output() {
    let lines = packets().map(|(name, bytes)| {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{name} {digits}").trim_end().to_owned() + "\n"
    });
    let text = HEAD.to_owned() + &lines.concat();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/proto/packets.txt");
    if std::fs::read_to_string(path).unwrap_or_default() != text {
        std::fs::write(path, text).expect("it can be written");
        panic!("{path} was rewritten: commit it");
    }
}
