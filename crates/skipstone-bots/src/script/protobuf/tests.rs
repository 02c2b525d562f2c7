//! Messages by `.proto` files: what is written and read, against prost-reflect's own; and every mistake that a script
//! or a server can make.

use super::decode::{WideNumbers, decode};
use super::encode::encode;
use super::schema::Schemas;
use crate::script::folder::ScriptFolder;
use mlua::{Lua, Table};
use protox::prost_reflect::DynamicMessage;
use protox::prost_reflect::prost::Message;

const GAME: &str = r#"
syntax = "proto3";
package game.v1;
import "common.proto";
import "google/protobuf/timestamp.proto";

message Move {
  uint32 sequence = 1;
  Position position = 2;
  repeated sint32 steps = 3;
  repeated Item items = 4;
  map<string, int32> scores = 5;
  map<uint64, Item> by_id = 6;
  oneof action { string say = 7; bytes paint = 8; }
  Color color = 9;
  optional int64 wide = 10;
  fixed64 stamp = 11;
  google.protobuf.Timestamp at = 12;
  float speed = 13;
  double exact = 14;
  bool is_running = 15;
  repeated Color colors = 16;
  repeated string names = 17;
  sfixed32 low = 18;
  Move inner = 19;
  message Nested { int32 x = 1; }
  Nested nested = 20;
}
enum Color { RED = 0; GREEN = 5; }
"#;
const COMMON: &str = r#"
syntax = "proto2";
message Position { required float x = 1; required float y = 2; optional int32 floor = 3 [default = 4]; }
message Item { optional string name = 1; optional group Size = 2 { optional int32 width = 1; } }
"#;

struct Bench {
    lua: Lua,
    folder: tempfile::TempDir,
    schemas: Schemas,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let bench = Bench { lua: Lua::new(), folder, schemas: Schemas::default() };
        bench.write("game.proto", GAME);
        bench.write("common.proto", COMMON);
        bench
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    fn load(&mut self, path: &str) -> Result<usize, String> {
        let folder = ScriptFolder::of_text("a.luau", "", self.folder.path());
        self.schemas.load(&folder, path)
    }

    fn table(&self, source: &str) -> Table {
        self.lua.load(format!("return {source}")).eval().expect("a table")
    }

    /// A table, written and read; the result is the global `value`.
    fn there_and_back(&mut self, name: &str, source: &str) -> Result<(), String> {
        let place = self.load("game.proto")?;
        let message = self.schemas.at(place).expect("loaded").message(name)?;
        let bytes = encode(&message, &self.table(source)).map_err(|wrong| wrong.to_string())?;
        let again = encode(&message, &self.table(source)).expect("it was");
        assert_eq!(bytes, again, "the same table is the same bytes");
        let read = decode(message.clone(), &bytes)?;
        assert_eq!(decode(message, &read.encode_to_vec()).as_ref(), Ok(&read), "the other implementation agrees");
        let table = WideNumbers::NumbersWhereExact.table(&self.lua, &read).expect("a table");
        self.lua.globals().set("value", table).expect("set");
        Ok(())
    }

    fn holds(&self, condition: &str) {
        let holds: bool = self.lua.load(format!("return {condition}")).eval().expect("it runs");
        assert!(holds, "{condition}");
    }
}

#[test]
fn a_table_becomes_a_message_and_a_table_again() {
    let mut bench = Bench::new();
    bench
        .there_and_back(
            "Move",
            r#"{ sequence = 7, position = { x = 1.5, y = -2 }, steps = { -1, 300, 0 },
                items = { { name = "sword" }, { size = { width = 3 } } }, scores = { b = 2, a = -1, c = 0 },
                by_id = { [9007199254740992] = { name = "big" } }, paint = buffer.fromstring("\0\1"), color = "GREEN",
                wide = "-9223372036854775808", stamp = 5, at = { seconds = 60 }, speed = 0.5, exact = 1e300,
                is_running = true, colors = { "RED", 5, 77 }, names = { "", "x" }, low = -3, inner = { sequence = 1 },
                nested = { x = -1 } }"#,
        )
        .expect("a message");
    for condition in [
        "value.sequence == 7 and value.position.x == 1.5 and value.position.y == -2",
        "value.position.floor == nil",
        "#value.steps == 3 and value.steps[1] == -1 and value.steps[2] == 300",
        "value.items[1].name == 'sword' and value.items[1].size == nil and value.items[2].size.width == 3",
        "value.scores.a == -1 and value.scores.b == 2 and value.scores.c == 0",
        "value.by_id[9007199254740992].name == 'big'",
        "buffer.tostring(value.paint) == '\\0\\1' and value.say == nil",
        "value.color == 'GREEN' and value.colors[1] == 'RED' and value.colors[2] == 'GREEN' and value.colors[3] == 77",
        "value.wide == '-9223372036854775808' and value.stamp == 5 and value.at.seconds == 60 and value.at.nanos == 0",
        "value.speed == 0.5 and value.exact == 1e300 and value.is_running == true",
        "value.names[1] == '' and value.names[2] == 'x' and value.low == -3 and value.nested.x == -1",
        "value.inner.sequence == 1 and value.inner.color == 'RED' and value.inner.wide == nil",
        "next(value.inner.scores) == nil and #value.inner.items == 0 and value.inner.position == nil",
    ] {
        bench.holds(condition);
    }
    bench.there_and_back("Move.Nested", "{ x = 0 }").expect("a message within a message");
    bench.holds("value.x == 0");
    bench.there_and_back("game.v1.Move", "{}").expect("by its whole name");
}

#[test]
fn the_bytes_are_those_of_the_specification() {
    let mut bench = Bench::new();
    let place = bench.load("game.proto").expect("loaded");
    let schema = bench.schemas.at(place).expect("loaded");
    for (name, source, bytes) in [
        // The examples of protobuf.dev/programming-guides/encoding.
        ("Move.Nested", "{ x = 150 }", &[0x08, 0x96, 0x01][..]),
        ("Move", "{ steps = { 3, -4 } }", &[0x1A, 0x02, 0x06, 0x07]),
        ("Move", "{ say = 'testing' }", &[0x3A, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6E, 0x67]),
        ("Move.Nested", "{ x = -2 }", &[0x08, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]),
        ("Move", "{ sequence = 0 }", &[]),
        ("Move", "{ wide = 0 }", &[0x50, 0x00]),
        ("Move", "{ scores = { b = 1, a = 2 } }", b"\x2A\x05\x0A\x01a\x10\x02\x2A\x05\x0A\x01b\x10\x01"),
    ] {
        let message = schema.message(name).expect("there");
        assert_eq!(encode(&message, &bench.table(source)).expect("encoded"), bytes, "{source}");
    }
}

#[test]
fn a_wrong_value_names_its_field() {
    let mut bench = Bench::new();
    for (source, part) in [
        ("{ speeds = 1 }", "Move has no field \"speeds\"; it has sequence"),
        ("{ [1] = 1 }", "Move has no field"),
        ("{ sequence = -1 }", "sequence: a whole number of 0 to 4294967295 is needed, not -1"),
        ("{ sequence = 1.5 }", "sequence: a whole number"),
        ("{ sequence = 'x' }", "sequence: a whole number of 0 to 4294967295 is needed, not \"x\""),
        ("{ position = 5 }", "position: a table with the fields of Position is needed, not 5"),
        ("{ position = { x = 1 } }", "position: Position needs the field y"),
        ("{ position = { x = '', y = 1 } }", "position.x: a number is needed"),
        ("{ steps = { 1, 2, true } }", "steps[3]: a whole number"),
        ("{ steps = { 1, a = 2 } }", "steps: a list is needed: 1, 2, 3"),
        ("{ steps = { 1, nil, 3 } }", "steps"),
        ("{ items = { { name = 1 } } }", "items[1].name: a text is needed, not 1"),
        ("{ scores = { a = 'b' } }", "scores[a]: a whole number"),
        ("{ scores = 1 }", "scores: a table is needed"),
        ("{ by_id = { x = {} } }", "by_id[x]: a whole number of 0"),
        ("{ say = 'a', paint = 'b' }", "exclude each other: both are of action"),
        ("{ say = '\\255' }", "say: a text is UTF-8"),
        ("{ color = 'BLUE' }", "color: Color has no \"BLUE\"; it has RED, GREEN"),
        ("{ wide = 9007199254740994 }", "wide: 9007199254740994 is not exact as a number: give its digits as a text"),
        ("{ wide = '9223372036854775808' }", "wide: a whole number"),
        ("{ speed = 1e39 }", "too large for a float"),
        ("{ is_running = 1 }", "is_running: true or false"),
    ] {
        let why = bench.there_and_back("Move", source).expect_err(source);
        assert!(why.contains(part), "{source}: {why}");
    }
    let why = bench.there_and_back("Jump", "{}").expect_err("no such message");
    assert!(why.contains("no message \"Jump\"; there are") && why.contains("Move"), "{why}");
    let circle = "(function() local t = {} t.inner = t return t end)()";
    let why = bench.there_and_back("Move", circle).expect_err("it has no end");
    assert!(why.contains("does a table contain itself"), "{why}");
    let long = "{ say = string.rep('x', 5000000) }";
    let why = bench.there_and_back("Move", long).expect_err("too long");
    assert!(why.contains("more than 4194304 bytes"), "{why}");
}

#[test]
fn a_mistake_in_a_file_has_its_file_line_and_column() {
    let mut bench = Bench::new();
    bench.write("syntax.proto", "syntax = \"proto3\";\nmessage A {\n  int32 = 1;\n}\n");
    bench.write("unknown.proto", "syntax = \"proto3\";\nmessage A {\n  Bee b = 1;\n}\n");
    bench.write("missing.proto", "syntax = \"proto3\";\nimport \"none.proto\";\n");
    bench.write("outside.proto", "syntax = \"proto3\";\nimport \"../secret.proto\";\n");
    bench.write("circle.proto", "syntax = \"proto3\";\nimport \"circle2.proto\";\n");
    bench.write("circle2.proto", "syntax = \"proto3\";\nimport \"circle.proto\";\n");
    bench.write("deep.proto", &format!("syntax = \"proto3\";\noption x = {};\n", "{ a ".repeat(100_000)));
    bench.write("wrong_import.proto", "syntax = \"proto3\";\nimport \"syntax.proto\";\n");
    for (file, part) in [
        ("syntax.proto", "syntax.proto:3:9: "),
        ("unknown.proto", "unknown.proto:3:3: "),
        ("missing.proto", "missing.proto:2:"),
        ("wrong_import.proto", "syntax.proto:3:9: "),
        ("circle.proto", "circle.proto -> circle2.proto -> circle.proto"),
        ("outside.proto", ""),
        ("deep.proto", "brackets are open"),
        ("../game.proto", "outside of the script's folder"),
        ("/etc/passwd", "outside of the script's folder"),
        ("none.proto", "cannot read"),
    ] {
        let why = bench.load(file).expect_err(file);
        assert!(why.contains(part) && !why.is_empty(), "{file}: {why}");
    }
    bench.write("deep/inner.proto", "syntax = \"proto3\";\nimport \"beside.proto\";\nmessage In { Be b = 1; }\n");
    bench.write("deep/beside.proto", "syntax = \"proto3\";\nmessage Be { int32 x = 1; }\n");
    assert_eq!(bench.load("./deep/inner.proto"), bench.load("deep/inner.proto"), "an import beside the file");
}

#[test]
fn bytes_of_a_hostile_server_are_an_error_and_never_a_panic() {
    let mut bench = Bench::new();
    let place = bench.load("game.proto").expect("loaded");
    let message = bench.schemas.at(place).expect("loaded").message("Move").expect("there");
    let nested = (0..2000).fold(Vec::new(), |inner: Vec<u8>, _| {
        let mut outer = DynamicMessage::new(message.clone()).encode_to_vec();
        outer.extend([0x9A, 0x01]);
        let mut length = inner.len();
        while length >= 0x80 {
            outer.push(length as u8 | 0x80);
            length >>= 7;
        }
        outer.push(length as u8);
        outer.extend(inner);
        outer
    });
    for data in [&[0xFF; 20][..], &[0x08], &[0x3A, 0x7F, 0x61], &[0x3A, 0x01, 0xFF], &[0x0B], &nested] {
        assert!(decode(message.clone(), data).is_err(), "{} bytes", data.len());
    }
    assert!(decode(message.clone(), &vec![0; 5 << 20]).expect_err("too long").contains("at most"));
    // Random bytes: an error or a message, which is a table.
    let mut word = 1_u64;
    for _ in 0..3000 {
        let mut data = Vec::new();
        for _ in 0..word % 40 {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            data.push((word >> 33) as u8);
        }
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
        if let Ok(read) = decode(message.clone(), &data) {
            WideNumbers::Texts.table(&bench.lua, &read).expect("a table");
        }
    }
    // Fields that the file does not know are left out.
    let read = decode(message, &[0xF8, 0x3F, 0x01, 0x08, 0x07]).expect("a message");
    let table = WideNumbers::Texts.table(&bench.lua, &read).expect("a table");
    assert_eq!(table.get::<u32>("sequence").ok(), Some(7));
}
