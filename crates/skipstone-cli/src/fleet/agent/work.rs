//! The process of a part: clients that know nothing of NATS.

use super::super::load::{AgentMeans, Load, SCRIPT};
use super::super::talk::{AgentState, PartEnd};
use super::shelf::EVIDENCE;
use crate::stress::lead::{LeadWord, PartNews, Ready, StartAt};
use skipstone_lab::child::Child;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

/// A part under way, or at its end.
pub(super) struct Work {
    pub(super) run: String,
    /// Files that only the process needs.
    script: PathBuf,
    child: Option<Child>,
    news: Receiver<String>,
    pub(super) ready: Option<(Instant, Ready)>,
    pub(super) started: Option<StartAt>,
    progress: Option<serde_json::Value>,
    pub(super) end: Option<PartEnd>,
    /// When the coordinator was heard last.
    pub(super) heard: Instant,
}

/// A process that still prepares or waits is given up without its coordinator.
const UNHEARD_MAX: Duration = Duration::from_secs(30);

impl Work {
    /// Starts the process. The error is one sentence.
    pub(super) fn begin(load: &Load, folder: &Path, given: &[u8], allowed: Vec<String>) -> Result<Self, String> {
        let evidence = folder.join(EVIDENCE);
        // That of a run of the same name would be taken for this one's.
        let _ = std::fs::remove_file(&evidence);
        let words = load.words(AgentMeans { folder, evidence, given, allowed })?;
        let program = std::env::current_exe().map_err(|error| format!("cannot find this program's file: {error}"))?;
        let mut command = Command::new(program);
        command.args(words).stderr(Stdio::inherit());
        let (child, news) =
            Child::start_talking(command).map_err(|error| format!("cannot start a process: {error}"))?;
        Ok(Work {
            run: load.run().to_owned(),
            script: folder.join(SCRIPT),
            child: Some(child),
            news,
            ready: None,
            started: None,
            progress: None,
            end: None,
            heard: Instant::now(),
        })
    }

    /// Gives the word, once.
    pub(super) fn start(&mut self, at: StartAt) {
        if let (None, Some(child)) = (self.started, &mut self.child) {
            child.send(&serde_json::to_string(&LeadWord::Start(at)).expect("a word has text keys"));
            self.started = Some(at);
        }
    }

    /// Ends the process by the end of its input; it keeps what it has.
    pub(super) fn stop(&mut self) {
        if let Some(child) = &mut self.child {
            child.close_input();
        }
    }

    /// Takes what the process says.
    pub(super) fn poll(&mut self) {
        loop {
            match self.news.try_recv() {
                Ok(line) => self.on_news(&line),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    if self.end.is_none() {
                        let how =
                            self.child.as_mut().and_then(Child::ended).unwrap_or_else(|| "its output ended".into());
                        self.end =
                            Some(PartEnd::Failed(format!("the process of its clients ended without evidence: {how}")));
                    }
                    self.child = None;
                    self.clear();
                    return;
                }
            }
        }
        if self.started.is_none() && self.heard.elapsed() > UNHEARD_MAX && self.end.is_none() {
            self.end = Some(PartEnd::Failed("the coordinator was not heard of before the start".into()));
            self.child = None;
        }
    }

    fn on_news(&mut self, line: &str) {
        match serde_json::from_str(line) {
            Ok(PartNews::Ready(ready)) => self.ready = Some((Instant::now(), ready)),
            Ok(PartNews::Progress(progress)) => self.progress = Some(progress),
            Ok(PartNews::Kept(kept)) => self.end = Some(PartEnd::Kept(kept)),
            Ok(PartNews::Failed(why)) => self.end = Some(PartEnd::Failed(why)),
            // A line for people.
            Err(_) => {}
        }
    }

    /// Evidence stays; scripts of runs that gave none would add up.
    fn clear(&self) {
        let _ = std::fs::remove_dir_all(&self.script);
    }

    /// Whether the process is over.
    pub(super) fn is_over(&self) -> bool {
        self.end.is_some() && self.child.is_none()
    }

    pub(super) fn state(&self, agent: &str, instance: &str) -> AgentState {
        let age = self.ready.as_ref().map_or(Duration::ZERO, |(at, _)| at.elapsed());
        AgentState {
            agent: agent.into(),
            instance: instance.into(),
            ready: self.ready.as_ref().map(|(_, ready)| ready.clone()),
            ready_age_us: age.as_micros() as u64,
            progress: self.progress.clone(),
            end: self.end.clone(),
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.child = None;
        self.clear();
    }
}
