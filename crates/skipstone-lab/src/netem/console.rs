//! Commands to a running link, one per line, from standard input.

use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;

use super::engine::{LinkCommand, Shared};
use super::path_settings::{PathSettings, Scope};
use super::profile::Profile;
use super::settings::Framing;
use crate::report::output;
use crate::units::Span;

/// The commands to a running link, and its last settings.
pub(crate) struct Console {
    pub(crate) path: PathSettings,
    pub(crate) framing: Framing,
    pub(crate) orders: Sender<LinkCommand>,
    pub(crate) shared: Arc<Shared>,
}

pub(crate) const HELP: &str = include_str!("console-help.txt");

impl Console {
    /// Reads standard input in its own thread. When it ends, the link continues.
    pub(crate) fn listen(mut self) {
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(line) = line else { return };
                match self.obey(line.trim()) {
                    Ok(answer) => output::print(answer),
                    Err(error) => output::complain(error),
                }
            }
        });
    }

    /// The answer to a line; it ends with a line feed or is empty.
    pub(crate) fn obey(&mut self, line: &str) -> Result<String, String> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "" => Ok(String::new()),
            "help" => Ok(HELP.into()),
            "show" => Ok(self.lines()),
            "stats" => Ok(self.shared.snapshot.lock().map_or_else(|_| String::new(), |snapshot| snapshot.table())),
            "losses" => Ok(self.losses()),
            "set" => self.set(Scope::Both, rest),
            "up" => self.set(Scope::Up, rest),
            "down" => self.set(Scope::Down, rest),
            "profile" => self.profile(rest),
            "outage" => self.outage(rest),
            "quit" | "stop" => {
                self.shared.stop.store(true, Ordering::Relaxed);
                Ok(String::new())
            }
            other => Err(format!("there is no command \"{other}\"; help lists them")),
        }
    }

    fn lines(&self) -> String {
        self.path.lines().map(|line| line + "\n").concat()
    }

    fn losses(&self) -> String {
        let losses = self.shared.snapshot.lock().map_or_else(|_| Vec::new(), |snapshot| snapshot.losses.clone());
        if losses.is_empty() { "nothing was lost so far\n".into() } else { losses.join("\n") + "\n" }
    }

    fn set(&mut self, scope: Scope, list: &str) -> Result<String, String> {
        if list.is_empty() {
            return Err("say what: set loss=2%,delay=20ms".into());
        }
        let mut changed = self.path.clone();
        changed.set(scope, &list.replace(char::is_whitespace, ","))?;
        self.change(changed)
    }

    fn profile(&mut self, name: &str) -> Result<String, String> {
        let profile = name.parse::<Profile>();
        let profile = profile.map_err(|_| format!("there is no profile \"{name}\"; there are {}", Profile::names()))?;
        let mut changed = self.path.clone();
        changed.take_profile(profile);
        self.change(changed)
    }

    fn change(&mut self, changed: PathSettings) -> Result<String, String> {
        let config = changed.config(self.framing)?;
        self.path = changed;
        self.send(LinkCommand::Configure(Box::new(config)))?;
        Ok(self.lines())
    }

    fn outage(&mut self, rest: &str) -> Result<String, String> {
        let (length, scope) = rest.split_once(char::is_whitespace).unwrap_or((rest, "both"));
        let length: Span = length.parse().map_err(|error| format!("{error}"))?;
        let scope = match scope.trim() {
            "up" => Scope::Up,
            "down" => Scope::Down,
            "both" => Scope::Both,
            other => return Err(format!("\"{other}\" is not a direction; there are up and down")),
        };
        self.send(LinkCommand::TakeDown(scope, length.0))?;
        Ok(format!("down for {length}\n"))
    }

    fn send(&self, order: LinkCommand) -> Result<(), String> {
        self.orders.send(order).map_err(|_| "the link has ended".into())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    use super::*;
    use crate::netem::settings::LinkSettings;

    fn console() -> (Console, Receiver<LinkCommand>) {
        let (orders, obeyed) = channel();
        let blank = LinkSettings::default;
        let path = PathSettings { up: blank(), down: blank(), outages: Vec::new(), seed: 1 };
        (Console { path, framing: Framing::Ip, orders, shared: Arc::default() }, obeyed)
    }

    #[test]
    fn commands_change_one_direction_or_both() {
        let (mut console, obeyed) = console();
        console.obey("set delay=20ms loss=1%").unwrap();
        assert_eq!(console.obey("down loss=none").unwrap(), "up   delay=20ms,loss=1%\ndown delay=20ms\n");
        let Ok(LinkCommand::Configure(config)) = obeyed.try_iter().last().ok_or(()) else { panic!("no order") };
        assert_eq!((config.up.delay, config.down.delay), (Duration::from_millis(20), Duration::from_millis(20)));
        console.obey("profile satellite").unwrap();
        assert!(console.obey("show").unwrap().contains("up   delay=280ms"));
        console.obey("outage 300ms up").unwrap();
        assert!(matches!(obeyed.try_iter().last(), Some(LinkCommand::TakeDown(Scope::Up, _))));
    }

    #[test]
    fn an_invalid_command_changes_nothing_and_is_explained() {
        let (mut console, obeyed) = console();
        for (line, cause) in [
            ("set", "say what"),
            ("set los=1%", "did you mean loss?"),
            ("set loss=1%,queue=10ms", "give it a rate"),
            ("profile moon", "there are broadband, wifi"),
            ("outage", "a number is missing"),
            ("outage 1s sideways", "there are up and down"),
            ("lose everything", "help lists them"),
        ] {
            let error = console.obey(line).unwrap_err();
            assert!(error.contains(cause), "{line}: {error}");
        }
        assert_eq!((obeyed.try_iter().count(), console.path.up.words().len()), (0, 0));
    }

    #[test]
    fn quit_ends_the_link() {
        let (mut console, _obeyed) = console();
        console.obey("quit").unwrap();
        assert!(console.shared.stop.load(Ordering::Relaxed));
    }
}
