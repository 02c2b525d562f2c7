//! What the next program inherits: sockets, and an identity without a file. All of it is gathered
//! while the restart can still be cancelled; afterwards only exec remains.

#[cfg(not(unix))]
pub(super) use absent::{Succession, handed_identity};
#[cfg(unix)]
pub(super) use unix::{Succession, handed_identity};

#[cfg(unix)]
mod unix {
    use super::super::restart::{IDENTITY_VARIABLE, forget_handover, own_command};
    use command_fds::{CommandFdExt, FdMapping};
    use skipstone::ListenSockets;
    use skipstone_lab::report::output;
    use skipstone_lab::signals::RestartSignal;
    use std::fs::File;
    use std::io::{PipeReader, Read, Write};
    use std::net::TcpListener;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::process::CommandExt;
    use std::path::Path;
    use std::process::Command;

    /// Everything that is handed over.
    #[derive(Debug)]
    pub(crate) struct Succession {
        sockets: Vec<OwnedFd>,
        identity: Option<OwnedFd>,
    }

    /// Sockets are at the descriptors from here on, as systemd hands them over.
    const FIRST: i32 = 3;
    /// An identity has a few kilobytes, which fit into a pipe without a reader.
    const IDENTITY_BYTES_MAX: usize = 1 << 14;
    /// The folder of a process's descriptors, by number. On Linux this is a link into /proc.
    const DESCRIPTORS: &str = "/dev/fd";

    impl Succession {
        /// Second handles to the sockets, and the identity in a pipe.
        pub(crate) fn new(
            game: &ListenSockets,
            others: Vec<TcpListener>,
            identity: Option<String>,
        ) -> Result<Self, String> {
            let udp = game.udp().map(|socket| socket.try_clone().map(OwnedFd::from));
            let tcp = game.tcp().map(|listener| listener.try_clone().map(OwnedFd::from));
            let others = others.into_iter().map(|other| Ok(other.into()));
            let cannot = |error| format!("no second handle to a socket: {error}");
            let sockets: Vec<OwnedFd> = udp.chain(tcp).chain(others).collect::<Result<_, _>>().map_err(cannot)?;
            let identity = identity.map(|text| piped(&text)).transpose()?;
            // No descriptor may occupy another's target number, because moving it would need descriptors at the last
            // moment.
            let places_end = FIRST + sockets.len() as i32 + i32::from(identity.is_some());
            let moved = |fd| beyond(places_end, fd);
            let sockets = sockets.into_iter().map(moved).collect::<Result<_, _>>().map_err(cannot)?;
            let identity = identity.map(|pipe| moved(pipe.into())).transpose().map_err(cannot)?;
            identity.iter().try_for_each(|pipe| reachable(Path::new(DESCRIPTORS), pipe))?;
            Ok(Succession { sockets, identity })
        }

        /// Becomes the new program. If that cannot be started, this program starts again. Returns only if that fails,
        /// too.
        pub(crate) fn follow(self) -> String {
            let Some(mut command) = own_command() else { return "this process does not know its command".into() };
            let count = self.sockets.len();
            let identity_fd = self.identity.as_ref().map(|_| FIRST + count as i32);
            let all = self.sockets.into_iter().chain(self.identity);
            let mappings = (FIRST..).zip(all).map(|(child_fd, parent_fd)| FdMapping { parent_fd, child_fd }).collect();
            if let Err(why) = RestartSignal::hold() {
                return why;
            }
            tell(&mut command, count, identity_fd);
            let error = match command.fd_mappings(mappings) {
                Ok(command) => command.exec(),
                Err(error) => return error.to_string(),
            };
            // By now the descriptors are in place.
            let failure = format!("{:?} cannot be started: {error}", command.get_program());
            output::complain(format_args!("skipstone serve: {failure}; this program starts again"));
            let Some(mut again) = this_program(&command) else { return failure };
            tell(&mut again, count, identity_fd);
            format!("{failure}; nor can this program: {}", again.exec())
        }
    }

    /// The same descriptor under a number of at least `end`.
    fn beyond(end: i32, fd: OwnedFd) -> std::io::Result<OwnedFd> {
        let (mut fd, mut too_low) = (fd, Vec::new());
        while fd.as_raw_fd() < end {
            let another = fd.try_clone()?;
            too_low.push(std::mem::replace(&mut fd, another));
        }
        Ok(fd)
    }

    /// The variables about what is handed over.
    fn tell(command: &mut Command, sockets: usize, identity_fd: Option<i32>) {
        let own = std::process::id();
        command.env("LISTEN_PID", own.to_string()).env("LISTEN_FDS", sockets.to_string());
        if let Some(fd) = identity_fd {
            command.env(IDENTITY_VARIABLE, format!("{own}:{fd}"));
        }
    }

    /// The file that this process runs, which may have been deleted, with the flags of the command.
    fn this_program(command: &Command) -> Option<Command> {
        let running = Path::new("/proc/self/exe");
        let program = if running.exists() { running.to_owned() } else { std::env::current_exe().ok()? };
        let mut again = Command::new(program);
        again.arg0(command.get_program()).args(command.get_args());
        forget_handover(&mut again);
        Some(again)
    }

    fn piped(text: &str) -> Result<PipeReader, String> {
        let cannot = |why: String| format!("no pipe for the identity: {why}");
        if text.len() > IDENTITY_BYTES_MAX {
            return Err(cannot(format!("it has {} bytes", text.len())));
        }
        let (reader, mut writer) = std::io::pipe().map_err(|error| cannot(error.to_string()))?;
        writer.write_all(text.as_bytes()).map_err(|error| cannot(error.to_string()))?;
        Ok(reader)
    }

    /// Whether the next program can read the identity, without which it would not start.
    fn reachable(descriptors: &Path, pipe: &OwnedFd) -> Result<(), String> {
        let place = descriptors.join(pipe.as_raw_fd().to_string());
        let cannot = |error| {
            format!(
                "the identity cannot be handed over by {}: {error}; mount /proc, or keep the identity in a file \
                 (--identity FILE)",
                place.display()
            )
        };
        std::fs::metadata(&place).map(drop).map_err(cannot)
    }

    /// The identity that the previous process handed over, if it did.
    pub(crate) fn handed_identity() -> Result<Option<String>, String> {
        let Ok(told) = std::env::var(IDENTITY_VARIABLE) else { return Ok(None) };
        let Some(fd) = fd_for(&told, std::process::id()) else { return Ok(None) };
        let mut text = String::new();
        // The descriptor stays open, with an empty pipe, until the next restart replaces it.
        let read = File::open(format!("{DESCRIPTORS}/{fd}"))
            .and_then(|pipe| pipe.take(IDENTITY_BYTES_MAX as u64).read_to_string(&mut text));
        read.map_err(|error| format!("the identity of the previous process cannot be read: {error}"))?;
        Ok(Some(text))
    }

    /// A child of a server inherits its variables, but not its descriptors.
    fn fd_for(told: &str, process: u32) -> Option<i32> {
        let (of, fd) = told.split_once(':')?;
        (of.parse() == Ok(process)).then(|| fd.parse().ok()).flatten()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn no_descriptor_occupies_the_place_of_another() {
            let end = 40;
            let fd = beyond(end, piped("x").expect("a pipe").into()).expect("there are enough");
            assert!(fd.as_raw_fd() >= end);
        }

        #[test]
        fn an_identity_waits_in_a_pipe_for_one_process() {
            let pipe = piped("an identity").expect("a pipe");
            let read = std::fs::read_to_string(format!("/dev/fd/{}", pipe.as_raw_fd())).expect("it is read");
            assert_eq!(read, "an identity");
            let pipe = OwnedFd::from(pipe);
            assert_eq!(reachable(Path::new(DESCRIPTORS), &pipe), Ok(()));
            let refused = reachable(Path::new("/no/such/folder"), &pipe).expect_err("a system without /proc");
            assert!(refused.contains("mount /proc") && refused.contains("--identity"), "{refused}");
            assert!(piped(&"x".repeat(IDENTITY_BYTES_MAX + 1)).is_err(), "the pipe would fill before it is read");
            assert_eq!((fd_for("7:5", 7), fd_for("7:5", 8), fd_for("nonsense", 7)), (Some(5), None, None));
        }
    }
}

#[cfg(not(unix))]
mod absent {
    use skipstone::ListenSockets;
    use std::net::TcpListener;

    /// This system hands nothing over.
    #[derive(Debug)]
    pub(crate) struct Succession;

    impl Succession {
        pub(crate) fn new(_: &ListenSockets, _: Vec<TcpListener>, _: Option<String>) -> Result<Self, String> {
            Err("this system cannot hand over sockets".into())
        }

        pub(crate) fn follow(self) -> String {
            "this system cannot hand over sockets".into()
        }
    }

    pub(crate) fn handed_identity() -> Result<Option<String>, String> {
        Ok(None)
    }
}
