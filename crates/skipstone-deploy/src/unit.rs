//! The unit of systemd that a deployment writes.

use crate::plan::{TargetPlan, UnitPlan};

/// The first line of a unit that is ours.
pub(crate) const MARK: &str = "# Written by skipstone deploy; changes are lost.";

/// The unit's text. A server that was drained to another address exits with 0 and stays down; one that fails is
/// restarted without limit. A reload tells the server by SIGUSR2 that another follows, which keeps its sockets open.
pub(crate) fn text(name: &str, target: &TargetPlan, unit: &UnitPlan) -> Result<String, String> {
    let words: Vec<&str> = unit.exec.split_whitespace().collect();
    let Some((program, rest)) = words.split_first() else { return Err("unit.exec is empty".into()) };
    let is_plain = |word: &&str| word.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"'\\%$;`".contains(&byte));
    if let Some(word) = words.iter().find(|word| !is_plain(word)) {
        return Err(format!("unit.exec: '{}' would need quotes; put such words into a script", word.escape_debug()));
    }
    let directory = &target.directory;
    let mut command = format!("{directory}/{program}");
    rest.iter().for_each(|word| command += &format!(" {word}"));
    let user = unit.user.as_ref().map(|user| format!("User={user}\n")).unwrap_or_default();
    Ok(format!(
        "{MARK}\n[Unit]\nDescription={name}\nStartLimitIntervalSec=0\n\
         After=network-online.target\nWants=network-online.target\n\n[Service]\n\
         ExecStart={command}\nExecReload=/bin/kill -USR2 $MAINPID\n\
         WorkingDirectory={directory}\n{user}Restart=on-failure\n\
         RestartSec=1\nLimitNOFILE=65536\n\n[Install]\nWantedBy=multi-user.target\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;

    #[test]
    fn a_unit_runs_the_current_release_and_reloads_without_closing_its_port() {
        let plan = Plan::parse(include_str!("example.toml")).expect("a plan");
        let target = &plan.targets["eu"];
        let unit = target.unit.as_ref().expect("it has one");
        let unit_text = text("game", target, unit).expect("plain words");
        assert!(unit_text.starts_with(MARK));
        assert!(unit_text.contains("ExecStart=/srv/game/current/game serve --listen 0.0.0.0:7777\n"), "{unit_text}");
        assert!(unit_text.contains("ExecReload=/bin/kill -USR2 $MAINPID\n") && unit_text.contains("User=game\n"));
        let (head, service) = unit_text.split_once("[Service]").expect("both");
        assert!(head.contains("StartLimitIntervalSec=0\n") && service.contains("Restart=on-failure\n"), "{unit_text}");
        let odd = UnitPlan { exec: "current/game 'a b'".into(), user: None };
        assert!(text("game", target, &odd).is_err());
    }
}
