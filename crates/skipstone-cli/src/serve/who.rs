//! The answer to `who`: the guests' names, in a text of bounded length.

use skipstone_lab::report::format::thousands;
use skipstone_lab::workload::Guest;

/// The maximum bytes of names: further guests are counted, not named.
const NAMES_BYTES_MAX: usize = 4_096;

/// The guests in a sentence.
pub(super) fn who_is_here<'a>(guests: impl Iterator<Item = &'a Guest>) -> String {
    let (mut names, mut unnamed, mut stress) = (String::new(), 0, 0);
    for guest in guests {
        match guest {
            Guest::Stress(_) => stress += 1,
            Guest::Chat(name) if names.len() + name.len() > NAMES_BYTES_MAX => unnamed += 1,
            Guest::Chat(name) => {
                names.push_str(if names.is_empty() { "" } else { ", " });
                names.push_str(name);
            }
        }
    }
    let mut text = if names.is_empty() { "nobody chats".into() } else { names };
    if unnamed > 0 {
        text.push_str(&format!(", and {} more", thousands(unnamed)));
    }
    match stress {
        0 => {}
        1 => text.push_str(", and 1 stress client"),
        _ => text.push_str(&format!(", and {stress} stress clients")),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chat_guests_are_named_and_stress_clients_are_counted() {
        let [zoe, bob] = ["zoe", "bob"].map(|name| Guest::Chat(name.into()));
        let text = |guests: &[&Guest]| who_is_here(guests.iter().copied());
        assert_eq!(text(&[]), "nobody chats");
        assert_eq!(text(&[&zoe, &bob]), "zoe, bob");
        assert_eq!(text(&[&zoe, &Guest::Stress(0), &bob]), "zoe, bob, and 1 stress client");
        assert_eq!(text(&[&Guest::Stress(0), &Guest::Stress(1)]), "nobody chats, and 2 stress clients");
    }

    #[test]
    fn a_long_list_ends_with_the_number_of_omitted_items() {
        let guests: Vec<Guest> = (0..5_000).map(|number| Guest::Chat(format!("{number:032}"))).collect();
        let text = who_is_here(guests.iter());
        assert!(text.len() <= 4_200, "{}", text.len());
        let named = text.split(", ").filter(|name| name.len() == 32).count() as u64;
        assert!(text.ends_with(&format!(", and {} more", thousands(5_000 - named))), "{text}");
    }
}
