//! A process of the run as its parent sees it: told words, heard by its crew, and gone when it is dropped.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child as Process, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use super::words::Told;

/// A running child.
#[derive(Debug)]
pub(crate) struct Child {
    process: Process,
    to: Option<ChildStdin>,
}

/// Where a child's words go, and whose they are.
#[derive(Debug)]
pub(crate) struct Voice {
    pub(crate) to: Sender<(usize, Told)>,
    pub(crate) number: usize,
}

/// What else may run on a child's core meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    /// Whatever wants to.
    Usual,
    /// Nothing, as long as the child has work.
    Realtime,
}

/// How a child's memory is paged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pages {
    /// As the system has it.
    Usual,
    /// In huge pages, if glibc and the kernel can, and the environment does not say otherwise.
    Huge,
}

/// Why nothing was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Silence {
    /// It cannot go on, or ended, or took too long: one sentence.
    Failed(String),
    /// This process was told to stop.
    Interrupted,
}

const GLIBC_TUNABLES: &str = "GLIBC_TUNABLES";

/// How long it has to end by itself.
const END_MAX: Duration = Duration::from_secs(2);

impl Child {
    /// Starts this program with the arguments of one of its inner commands.
    pub(crate) fn start(
        name: &'static str,
        arguments: &[String],
        pages: Pages,
        priority: Priority,
        voice: Voice,
    ) -> Result<Child, String> {
        let program = std::env::current_exe().map_err(|error| format!("cannot find this program's file: {error}"))?;
        let mut command = match priority {
            Priority::Usual => Command::new(program),
            Priority::Realtime => {
                let mut command = Command::new("chrt");
                command.args(["--fifo", "10"]).arg(program);
                command
            }
        };
        command.arg(name).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        if pages == Pages::Huge && std::env::var_os(GLIBC_TUNABLES).is_none() {
            command.env(GLIBC_TUNABLES, "glibc.malloc.hugetlb=1");
        }
        let mut process = command.spawn().map_err(|error| format!("cannot start the process of {name}: {error}"))?;
        let to = process.stdin.take();
        listen(process.stdout.take().expect("its output is piped"), name, voice);
        Ok(Child { process, to })
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Tells it a word. If it is gone, hearing will say so.
    pub(crate) fn tell(&mut self, word: &str) {
        if let Some(to) = &mut self.to {
            let _ = to.write_all(format!("{word}\n").as_bytes());
        }
    }
}

impl Drop for Child {
    /// Without its input it ends; if it is stuck, it is killed, by its id alone.
    fn drop(&mut self) {
        self.to = None;
        let end = Instant::now() + END_MAX;
        while Instant::now() < end {
            match self.process.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                _ => return,
            }
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn listen(from: ChildStdout, name: &'static str, Voice { to, number }: Voice) {
    std::thread::spawn(move || {
        let lines = BufReader::new(from).lines().map_while(Result::ok);
        // What is no word of ours is a library's own chatter.
        for told in lines.filter_map(|line| serde_json::from_str::<Told>(&line).ok()) {
            let is_last = matches!(told, Told::Found(_));
            if to.send((number, told)).is_err() || is_last {
                return;
            }
        }
        let reason = format!("the process of {name} ended; its own message stands above");
        let _ = to.send((number, Told::Failed { reason }));
    });
}
