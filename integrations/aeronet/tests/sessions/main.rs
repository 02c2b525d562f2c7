//! What aeronet's own tests demand of its layers, over Skipstone and real sockets: `lifecycle` and `packets` hold for
//! any layer of aeronet, `replication` is a game of bevy_replicon on a path that loses packets.

mod apps;
mod lifecycle;
mod packets;
mod replication;
