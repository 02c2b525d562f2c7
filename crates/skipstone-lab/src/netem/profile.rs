//! Well-known kinds of links, by name: typical values, not measurements of a place.

use strum::{Display, EnumString, VariantArray};

/// A kind of access, or a long way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Display, EnumString, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Profile {
    /// Cable or fibre at home: 16 ms, hardly any loss, 20 Mbit/s up and 100 down
    Broadband,
    /// Wi-Fi in a house with neighbours: jitter, and losses in short bursts
    Wifi,
    /// A moving phone: 60 ms and jitter, fades, a deep queue
    Mobile,
    /// A geostationary satellite: 560 ms
    Satellite,
    /// Europe to North America by cable: 80 ms
    Transatlantic,
}

impl Profile {
    /// The forward direction, usually from the player.
    pub(crate) fn up(self) -> &'static str {
        match self {
            Profile::Broadband => "delay=8ms,jitter=1ms,loss=0.02%,rate=20Mbit/s,queue=60ms",
            Profile::Wifi => "delay=6ms,jitter=6ms,burst=0.7%:3,rate=40Mbit/s,queue=60ms",
            Profile::Mobile => "delay=30ms,jitter=12ms,fade=0.5%:60ms,rate=8Mbit/s,queue=300ms",
            Profile::Satellite => "delay=280ms,jitter=8ms,loss=0.3%,rate=5Mbit/s,queue=400ms",
            Profile::Transatlantic => "delay=40ms,jitter=1ms,loss=0.1%",
        }
    }

    /// The way back.
    pub(crate) fn down(self) -> &'static str {
        match self {
            Profile::Broadband => "delay=8ms,jitter=1ms,loss=0.02%,rate=100Mbit/s,queue=60ms",
            Profile::Mobile => "delay=30ms,jitter=12ms,fade=0.5%:60ms,rate=30Mbit/s,queue=300ms",
            Profile::Satellite => "delay=280ms,jitter=8ms,loss=0.3%,rate=50Mbit/s,queue=400ms",
            Profile::Wifi | Profile::Transatlantic => self.up(),
        }
    }

    /// All of them, for people.
    pub(crate) fn names() -> String {
        let names: Vec<String> = Profile::VARIANTS.iter().map(Profile::to_string).collect();
        names.join(", ")
    }
}

/// The profiles with their values; ends with a line feed.
pub(crate) fn table() -> String {
    let lines = Profile::VARIANTS.iter().map(|profile| {
        let name = profile.to_string();
        if profile.up() == profile.down() {
            format!("{name:<15}{}\n", profile.up())
        } else {
            format!("{name:<15}up    {}\n{:<15}down  {}\n", profile.up(), "", profile.down())
        }
    });
    lines.collect()
}
