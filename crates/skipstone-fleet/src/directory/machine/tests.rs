use super::super::calls::StoreOperation;
use super::*;

const NODE: &[u8] = br#"{"address":"","capacity":100,"draining":false,"instance":"7.1","load":0,"version":""}"#;
const ROOM: &[u8] = br#"{"claim":2,"floor":0,"instance":"7.1","node":"n2","policy":"unique"}"#;

#[test]
fn an_answer_that_a_node_has_ended_does_not_outlive_news_that_it_is_back() {
    let (mut directory, room) = (joined(), RoomName::new("r").unwrap());
    // The room's owner is not known: the directory reads its entry, and the store answers before the node is back.
    directory.handle_change("room.r", Some(&Bytes::from_static(ROOM)), 10, at(100));
    directory.handle_timeout(at(2_600));
    let look = polled(&mut directory, "node.n2");
    assert_eq!(look.operation, StoreOperation::Get);
    directory.handle_change("node.n2", Some(&Bytes::from_static(NODE)), 22, at(2_610));
    directory.handle_change("room.r", Some(&Bytes::from_static(ROOM)), 23, at(2_610));
    directory.handle_answer(look.id, KvOutcome::NotFound, at(2_620));
    assert!(matches!(directory.place(&room, at(2_620)), Placement::Room { .. }));
    // With no later news, the answer counts.
    let mut other = joined();
    other.handle_change("room.r", Some(&Bytes::from_static(ROOM)), 10, at(100));
    other.handle_timeout(at(2_600));
    let look = polled(&mut other, "node.n2");
    other.handle_answer(look.id, KvOutcome::NotFound, at(2_620));
    assert_eq!(other.place(&room, at(2_620)), Placement::Orphaned);
}

/// A directory with a lease of its own and a watch that is current.
fn joined() -> Directory {
    let settings = DirectorySettings::new(NodeName::new("n1").unwrap(), 1);
    let mut directory = Directory::new(settings, at(0)).unwrap();
    directory.handle_timeout(at(0));
    let write = polled(&mut directory, "node.n1");
    directory.handle_answer(write.id, KvOutcome::Stored { revision: 1 }, at(1));
    directory.handle_watch(&KvWatchState::Current, at(1));
    assert!(directory.has_lease(at(1)));
    directory
}

fn polled(directory: &mut Directory, key: &str) -> DirectoryCall {
    std::iter::from_fn(|| directory.poll_call()).find(|call| call.key == key).expect("a call")
}

fn at(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
