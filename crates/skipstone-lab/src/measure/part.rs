//! Which of a run's clients a process has: all of them, or some while other machines have the rest.

use crate::units::Carrier;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Clients of a run by their numbers, which are the run's own, so that lines of all machines are told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The number of the first client of each carrier in the mix, ascending.
    pub firsts: Vec<u32>,
    /// Clients of the whole run; every number is below.
    pub total: u32,
}

/// How many clients of each carrier.
pub type Shares = [(Carrier, u32)];

impl Part {
    /// All clients of a run.
    pub fn whole(mix: &Shares) -> Self {
        let mut total = 0;
        let first = |(_, count): &(Carrier, u32)| {
            total += count;
            total - count
        };
        let firsts = mix.iter().map(first).collect();
        Part { firsts, total }
    }

    /// The numbers of a carrier's clients.
    pub fn numbers(&self, mix: &Shares, carrier: usize) -> Range<u32> {
        let first = self.firsts[carrier];
        first..first + mix[carrier].1
    }

    /// The index of a client within this process, by its number.
    ///
    /// # Panics
    /// If this process does not have it.
    pub fn place(&self, mix: &Shares, number: u32) -> usize {
        let mut before = 0;
        for carrier in 0..mix.len() {
            let numbers = self.numbers(mix, carrier);
            if numbers.contains(&number) {
                return before + (number - numbers.start) as usize;
            }
            before += numbers.len();
        }
        panic!("client {number} is not one of {self:?}")
    }

    /// The parts of `count` machines, which have equal shares of each carrier, up to one client.
    pub fn divided(mix: &Shares, count: u32) -> Vec<(Vec<(Carrier, u32)>, Part)> {
        let whole = Part::whole(mix);
        let part = |machine: u32| {
            let (mut shares, mut firsts) = (Vec::new(), Vec::new());
            for ((carrier, clients), first) in mix.iter().zip(&whole.firsts) {
                // In 64 bits: a run has as many clients as a line can name, times the machines.
                let edge = |machine: u32| (u64::from(*clients) * u64::from(machine) / u64::from(count)) as u32;
                shares.push((*carrier, edge(machine + 1) - edge(machine)));
                firsts.push(first + edge(machine));
            }
            (shares, Part { firsts, total: whole.total })
        };
        (0..count).map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIX: [(Carrier, u32); 2] = [(Carrier::Udp, 10), (Carrier::Ws, 3)];

    #[test]
    fn parts_have_every_client_once_under_the_number_that_one_process_gives_it() {
        let whole = Part::whole(&MIX);
        assert_eq!((whole.firsts.as_slice(), whole.total), ([0, 10].as_slice(), 13));
        for machines in 1..=6 {
            let mut numbers: [Vec<u32>; 2] = Default::default();
            for (shares, part) in Part::divided(&MIX, machines) {
                assert_eq!(part.total, 13);
                let mut places = 0..;
                for (carrier, of_carrier) in numbers.iter_mut().enumerate() {
                    for number in part.numbers(&shares, carrier) {
                        assert_eq!(Some(part.place(&shares, number)), places.next());
                        of_carrier.push(number);
                    }
                }
            }
            assert_eq!(numbers, [(0..10).collect::<Vec<u32>>(), (10..13).collect()], "{machines} machines");
        }
    }

    #[test]
    fn no_machine_has_two_clients_of_a_carrier_more_than_another() {
        for (clients, machines) in [(1_000, 4), (1_001, 4), (7, 3), (2, 5), (65_536, 16)] {
            let parts = Part::divided(&[(Carrier::Udp, clients)], machines);
            let counts: Vec<u32> = parts.iter().map(|(shares, _)| shares[0].1).collect();
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(most - least <= 1 && counts.iter().sum::<u32>() == clients, "{counts:?}");
        }
    }
}
