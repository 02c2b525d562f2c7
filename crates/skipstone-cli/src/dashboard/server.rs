//! A dashboard: its thread and shutdown.

use crate::console::Handler;
use crate::dashboard::access::Access;
use crate::dashboard::feed::Intake;
use crate::dashboard::sampler;
use crate::dashboard::state::DashboardState;
use crate::dashboard::stress::AgentsLead;
use crate::dashboard::{listener, routes};
use crate::door::Secret;
use skipstone::StatisticsReader;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

pub(crate) use crate::dashboard::state::ServerFacts;

/// How a dashboard is set up.
pub(crate) struct DashboardConfig {
    /// Where to listen; port 0 for any free one. Other than loopback needs a token: `door::check_reach`.
    pub(crate) listen: SocketAddr,
    /// A socket that already listens, instead of a new one at that address.
    pub(crate) handed: Option<TcpListener>,
    /// The token that a page must give, the console's.
    pub(crate) secret: Option<Secret>,
    /// Host names under which browsers may find it, in addition to `localhost` and addresses.
    pub(crate) names: Vec<String>,
    pub(crate) server: ServerFacts,
    pub(crate) statistics: StatisticsReader,
    pub(crate) commands: Arc<dyn Handler>,
    /// Where agents for stress runs wait, if the operator named that.
    pub(crate) agents: Option<AgentsLead>,
}

/// A listening dashboard. Dropping it closes it.
pub(crate) struct Dashboard {
    local_addr: SocketAddr,
    /// For the next process; `None` once it is closed.
    second: Option<TcpListener>,
    state: Arc<DashboardState>,
    ending: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Dashboard {
    /// Listens, and serves pages in its own thread.
    ///
    /// # Errors
    /// The address cannot be bound. The error says what to do.
    pub(crate) fn listen(config: DashboardConfig, intake: Intake) -> Result<Dashboard, String> {
        let DashboardConfig { listen, handed, secret, names, server, statistics, commands, agents } = config;
        let access = Access::new(listen, secret, &names);
        let cannot = |what: &str, error: std::io::Error| format!("the dashboard cannot {what}: {error}");
        let bind = || {
            TcpListener::bind(listen).map_err(|error| {
                cannot(&format!("listen on {listen}"), error) + "; choose another address or port with --dashboard"
            })
        };
        let listener = handed.map_or_else(bind, Ok)?;
        let second = listener.try_clone().map_err(|error| cannot("listen", error))?;
        listener.set_nonblocking(true).map_err(|error| cannot("listen", error))?;
        let local_addr = listener.local_addr().map_err(|error| cannot("listen", error))?;
        let meters = Arc::clone(&intake.meters);
        let state = Arc::new(DashboardState::new(access, server, statistics, meters, commands, agents));
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_io().enable_time().max_blocking_threads(COMMANDS_MAX).thread_name("dashboard command");
        let runtime = runtime.build().map_err(|error| cannot("start", error))?;
        let (ending, ended) = oneshot::channel();
        let own = Arc::clone(&state);
        let thread = std::thread::Builder::new().name("dashboard".into()).spawn(move || {
            runtime.block_on(serve(listener, own, intake, ended));
            runtime.shutdown_timeout(COMMAND_GRACE);
        });
        let thread = thread.map_err(|error| cannot("start", error))?;
        Ok(Dashboard { local_addr, second: Some(second), state, ending: Some(ending), thread: Some(thread) })
    }

    /// The page's address.
    pub(crate) fn url(&self) -> String {
        let ip = self.local_addr.ip();
        let host = match ip {
            _ if ip.is_unspecified() => "127.0.0.1".into(),
            std::net::IpAddr::V6(ip) => format!("[{ip}]"),
            std::net::IpAddr::V4(ip) => ip.to_string(),
        };
        format!("http://{host}:{}/", self.local_addr.port())
    }

    /// Where it listens.
    pub(crate) fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// A second handle to the listening socket, for the next process.
    pub(crate) fn listener(&self) -> std::io::Result<TcpListener> {
        let closed = || std::io::Error::from(std::io::ErrorKind::NotConnected);
        self.second.as_ref().ok_or_else(closed)?.try_clone()
    }

    /// Tells the pages that the server ends, and frees the port. A page that does not read delays it by half a second
    /// at most.
    pub(crate) fn close(&mut self, reason: &str) {
        self.state.streams.end(reason);
        let late = Instant::now() + GOODBYE_MAX;
        while self.state.streams.viewers() > 0 && Instant::now() < late {
            std::thread::sleep(GOODBYE_STEP);
        }
        self.end();
    }

    fn end(&mut self) {
        self.second = None;
        drop(self.state.stress.lock().stop());
        drop(self.ending.take());
        if let Some(thread) = self.thread.take() {
            // It panics only if this program has a defect, and then the panic was printed.
            let _ = thread.join();
        }
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        self.end();
    }
}

async fn serve(listener: TcpListener, state: Arc<DashboardState>, intake: Intake, ended: oneshot::Receiver<()>) {
    let sampler = tokio::spawn(sampler::sample(Arc::clone(&state), intake));
    let accepting = tokio::spawn(listener::accept(listener, routes::router(state)));
    // The other end sends nothing; it is dropped.
    let _ = ended.await;
    accepting.abort();
    sampler.abort();
}

/// The number of concurrent commands: each waits for a tick of the game.
const COMMANDS_MAX: usize = 4;
const COMMAND_GRACE: Duration = Duration::from_millis(200);
const GOODBYE_MAX: Duration = Duration::from_millis(500);
const GOODBYE_STEP: Duration = Duration::from_millis(5);
