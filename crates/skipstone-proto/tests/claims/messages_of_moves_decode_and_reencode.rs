//! `vectors/moves.json` against the codec: each message decodes to the content that is written next to it, and encodes
//! to the same bytes again.

use serde_json::{Value, json};
use skipstone_proto::wire::Malformed;
use skipstone_proto::{MoveMessage, Stayed};

#[test]
fn messages_of_moves_decode_and_reencode() {
    let text = include_str!("../../../../vectors/moves.json");
    let vectors: Vec<Value> = serde_json::from_str(text).expect("a list in JSON");
    assert!(vectors.len() > 10, "most vectors are missing");
    for vector in vectors {
        let name = &vector["name"];
        let bytes = unhex(vector["hex"].as_str().expect("a vector has bytes"));
        let decoded = MoveMessage::decode(&bytes);
        let fields = match decoded {
            Ok(Some(message)) => fields_of(message),
            Ok(None) => Value::Null,
            Err(Malformed) => json!("malformed"),
        };
        assert_eq!(fields, vector["expect"], "{name}");
        if let Ok(Some(message)) = decoded
            && !matches!(message, MoveMessage::Stayed(_, Stayed::Other))
        {
            assert_eq!(message.encode(), bytes, "{name}");
        }
    }
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

fn fields_of(message: MoveMessage<'_>) -> Value {
    let (kind, id) = match message {
        MoveMessage::Able => return json!({"kind": "able"}),
        MoveMessage::Move { id, .. } => ("move", id),
        MoveMessage::Cancel(id) => ("cancel", id),
        MoveMessage::Ready(id) => ("ready", id),
        MoveMessage::Stayed(id, _) => ("stayed", id),
        MoveMessage::Welcome(id) => ("welcome", id),
        MoveMessage::Arrived(id) => ("arrived", id),
        MoveMessage::Left(id) => ("left", id),
    };
    let mut fields = json!({"kind": kind, "id": format!("{:016x}", id.0)});
    if let MoveMessage::Move { destination, token, .. } = message {
        fields["destination"] = destination.into();
        fields["token"] = token.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
    }
    if let MoveMessage::Stayed(_, why) = message {
        fields["why"] = format!("{why:?}").to_lowercase().into();
    }
    fields
}
