//! Every input that is kept in `corpus/`, and seeded random ones, through the body of each fuzz target.

use skipstone_proto::rng::Rng;
use std::path::Path;

type Body = fn(&[u8]);

const TARGETS: [(&str, Body); 4] = [
    ("decode", skipstone_fuzz::decode),
    ("round_trip", skipstone_fuzz::round_trip),
    ("operations", skipstone_fuzz::operations),
    ("pair", skipstone_fuzz::pair),
];

#[test]
fn kept_inputs() {
    for (name, body) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
        let mut files: Vec<_> = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .map(|file| file.expect("a file").path())
            .collect();
        files.sort();
        assert!(!files.is_empty(), "{name} has a corpus");
        for file in files {
            println!("{}", file.display());
            body(&std::fs::read(&file).expect("it can be read"));
        }
    }
}

#[test]
fn random_inputs() {
    for (name, body) in TARGETS {
        for seed in 0..SEEDS {
            let mut rng = Rng::new(seed);
            let bits = rng.below(11);
            let length = rng.below(1 + (1 << bits));
            let bytes: Vec<u8> = (0..length).map(|_| rng.next_u64() as u8).collect();
            println!("{name} with seed {seed}");
            body(&bytes);
        }
    }
}

const SEEDS: u64 = 300;
