//! Places in the streams of nodes.

use crate::directory::NodeName;
use std::collections::BTreeMap;

/// A message's place: its node, that node's process, and the message's number there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The node that published it.
    pub node: NodeName,
    /// The process: another for each start of the node.
    pub process: u64,
    /// Its number in that process, from 1.
    pub number: u64,
}

/// The last message that was heard of each node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Positions(pub(super) BTreeMap<NodeName, (u64, u64)>);

impl Position {
    /// Appends its bytes: the name with its length, the process, the number.
    pub fn encode(&self, to: &mut Vec<u8>) {
        put(to, &self.node, self.process, self.number);
    }

    /// Takes a position off the front of these bytes; nothing if there is none.
    pub fn decode(bytes: &mut &[u8]) -> Option<Position> {
        let (length, rest) = bytes.split_first()?;
        let (name, rest) = rest.split_at_checked(usize::from(*length))?;
        let (process, rest) = rest.split_first_chunk::<8>()?;
        let (number, rest) = rest.split_first_chunk::<8>()?;
        let node = NodeName::new(std::str::from_utf8(name).ok()?).ok()?;
        *bytes = rest;
        Some(Position { node, process: u64::from_be_bytes(*process), number: u64::from_be_bytes(*number) })
    }
}

impl Positions {
    /// Appends the bytes of each position.
    pub fn encode(&self, to: &mut Vec<u8>) {
        self.0.iter().for_each(|(node, (process, number))| put(to, node, *process, *number));
    }

    /// Reads all these bytes; nothing if they are no positions.
    pub fn decode(mut bytes: &[u8]) -> Option<Positions> {
        let mut positions = Positions::default();
        while !bytes.is_empty() {
            let Position { node, process, number } = Position::decode(&mut bytes)?;
            positions.0.insert(node, (process, number));
        }
        Some(positions)
    }

    /// The position of one node.
    pub fn of(&self, node: &NodeName) -> Option<Position> {
        let (process, number) = *self.0.get(node)?;
        Some(Position { node: node.clone(), process, number })
    }
}

fn put(to: &mut Vec<u8>, node: &NodeName, process: u64, number: u64) {
    let name = node.as_str().as_bytes();
    // A name has 64 bytes at most.
    to.push(name.len() as u8);
    to.extend_from_slice(name);
    to.extend_from_slice(&process.to_be_bytes());
    to.extend_from_slice(&number.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_return_from_their_bytes_and_other_bytes_are_none() {
        let node = |name: &str| NodeName::new(name).unwrap();
        let all = [(node("a"), (7, 1)), (node(&"n".repeat(64)), (u64::MAX, 0))];
        let positions = Positions(all.into());
        let mut bytes = Vec::new();
        positions.encode(&mut bytes);
        assert_eq!(Positions::decode(&bytes), Some(positions.clone()));
        assert_eq!(positions.of(&node("a")).map(|position| position.number), Some(1));
        for end in 1..bytes.len() {
            assert_eq!(Positions::decode(&bytes[..end]), None.or((end == 18).then(|| positions_of_a(&node("a")))));
        }
        assert_eq!(Positions::decode(b"\x01*\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), None, "no name");
    }

    /// The first position alone is one as well.
    fn positions_of_a(node: &NodeName) -> Positions {
        Positions([(node.clone(), (7, 1))].into())
    }
}
