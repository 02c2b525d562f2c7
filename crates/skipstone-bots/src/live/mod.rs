//! `--live`: a run while it runs, by HTTP: a page, and figures for Prometheus. Read only.

mod http;
mod prometheus;

use http::{Answer, HttpServer};
use skipstone_lab::report::bots::{BotsReport, BotsResult};
use skipstone_lab::report::{PageKind, page_of};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};

/// The run as its viewers get it.
pub(crate) struct LiveRun {
    documents: Arc<Mutex<Documents>>,
    server: HttpServer,
}

#[derive(Default)]
struct Documents {
    page: String,
    metrics: String,
}

impl LiveRun {
    /// Listens at this address.
    ///
    /// # Errors
    /// It cannot: one sentence.
    pub(crate) fn open(address: &str) -> Result<LiveRun, String> {
        let wrong = |error| format!("--live {address}: {error} (for example 127.0.0.1:9464)");
        let listener = TcpListener::bind(address).map_err(wrong)?;
        let documents: Arc<Mutex<Documents>> = Arc::default();
        let own = Arc::clone(&documents);
        let server = HttpServer::start(listener, move |path| answer(&own, path)).map_err(wrong)?;
        Ok(LiveRun { documents, server })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// How the run stands.
    pub(crate) fn show(&self, report: &BotsReport<'_>, connected: u64) {
        let result: &BotsResult = report.result;
        let title = format!("Bots of {}, {:.0} of {:.0} s", result.script, result.duration_s, result.duration_asked_s);
        let page = page_of(PageKind::Bots, &title, report, "Scripts are needed to show the run.");
        let metrics = prometheus::text(result, connected);
        *self.documents.lock().unwrap_or_else(PoisonError::into_inner) = Documents { page, metrics };
    }
}

fn answer(documents: &Mutex<Documents>, path: &str) -> Option<Answer> {
    let documents = documents.lock().unwrap_or_else(PoisonError::into_inner);
    match path {
        "/" if documents.page.is_empty() => {
            Some(Answer::new("text/plain; charset=utf-8", "The run begins.").refreshed())
        }
        "/" => Some(Answer::new("text/html; charset=utf-8", &documents.page).refreshed()),
        "/metrics" => Some(Answer::new("text/plain; version=0.0.4; charset=utf-8", &documents.metrics)),
        _ => None,
    }
}
