//! The site of stress pages, on the loopback interface: the page, its script, and its reports, each answered with
//! commands. Its paths begin with a secret, so that no other page of this machine can report anything.

use super::order::Order;
use super::report::Report;
use parking_lot::Mutex;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use tiny_http::{Header, Method, Request, Response, Server};

/// A running site.
pub(super) struct Site {
    server: Arc<Server>,
    base: String,
    orders: Arc<Mutex<Vec<Waiting>>>,
}

/// Orders that a page has not taken.
#[derive(Debug, Default)]
struct Waiting {
    orders: Vec<Order>,
    /// It has taken the order to send lines.
    has_begun: bool,
}

/// A report that a page sent.
#[derive(Debug)]
pub(super) struct ReceivedReport {
    pub(super) page: usize,
    pub(super) report: Report,
    /// The page knew of the run when it wrote this.
    pub(super) has_begun: bool,
}

/// Reports that wait for the run; then pages wait for their answers.
pub(super) const REPORTS_MAX: usize = 64;
/// The largest report in bytes: 250 clients that each receive 10,000 lines a second, over an interval of 50 ms.
const REPORT_BYTES_MAX: u64 = 40 << 20;
const PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>stress clients</title>\
                    <link rel=\"icon\" href=\"data:,\"><script type=\"module\" src=\"stress.js\"></script></html>";

impl Site {
    pub(super) fn start(pages: usize, tell: SyncSender<ReceivedReport>) -> Result<Self, String> {
        let script = script()?;
        let server = Server::http("127.0.0.1:0").map_err(|error| format!("no port for pages: {error}"))?;
        let server = Arc::new(server);
        let address = server.server_addr().to_ip().ok_or("no port for pages")?;
        let secret = secret();
        let orders = Arc::new(Mutex::new((0..pages).map(|_| Waiting::default()).collect::<Vec<_>>()));
        let (of_thread, waiting, path) = (Arc::clone(&server), Arc::clone(&orders), format!("/{secret}/"));
        std::thread::spawn(move || {
            for request in of_thread.incoming_requests() {
                answer(request, &path, &script, &waiting, &tell);
            }
        });
        Ok(Site { server, base: format!("http://{address}/{secret}/"), orders })
    }

    pub(super) fn url_of(&self, page: usize) -> String {
        format!("{}?{page}", self.base)
    }

    /// The page gets it with the answer to its next report.
    pub(super) fn order(&self, page: usize, order: Order) {
        let mut waiting = self.orders.lock();
        let orders = &mut waiting[page].orders;
        match (orders.last_mut(), order) {
            (Some(Order::Connect { url, numbers }), Order::Connect { url: other, numbers: more }) if *url == other => {
                numbers.extend(more);
            }
            (_, order) => orders.push(order),
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.unblock();
    }
}

fn answer(
    mut request: Request,
    path: &str,
    script: &[u8],
    waiting: &Mutex<Vec<Waiting>>,
    tell: &SyncSender<ReceivedReport>,
) {
    let url = request.url().to_owned();
    let Some((name, page)) = url.strip_prefix(path).map(|rest| rest.split_once('?').unwrap_or((rest, ""))) else {
        return respond(request, 404, "text/plain", b"there is nothing here".to_vec());
    };
    match (request.method(), name) {
        (Method::Get, "") => respond(request, 200, "text/html; charset=utf-8", PAGE.as_bytes().to_vec()),
        (Method::Get, "stress.js") => respond(request, 200, "text/javascript", script.to_vec()),
        (Method::Post, "report") => {
            let mut body = Vec::new();
            let read = request.as_reader().take(REPORT_BYTES_MAX).read_to_end(&mut body);
            let report = read.ok().and_then(|_| serde_json::from_slice::<Report>(&body).ok());
            match (page.parse::<usize>(), report) {
                (Ok(page), Some(report)) => match take(waiting, page) {
                    Some((orders, has_begun)) => {
                        // The run is over once the receiver is dropped.
                        let _ = tell.send(ReceivedReport { page, report, has_begun });
                        respond(request, 200, "application/json", serde_json::to_vec(&orders).unwrap_or_default());
                    }
                    None => respond(request, 404, "text/plain", b"there is no such page".to_vec()),
                },
                _ => respond(request, 400, "text/plain", b"this is no report".to_vec()),
            }
        }
        _ => respond(request, 404, "text/plain", b"there is nothing here".to_vec()),
    }
}

/// The orders of a page, and whether the page had the order to begin before.
fn take(waiting: &Mutex<Vec<Waiting>>, page: usize) -> Option<(Vec<Order>, bool)> {
    let mut waiting = waiting.lock();
    let Waiting { orders, has_begun } = waiting.get_mut(page)?;
    let orders = core::mem::take(orders);
    let had_begun = *has_begun;
    *has_begun |= orders.iter().any(|order| matches!(order, Order::Start { .. }));
    Some((orders, had_begun))
}

/// The page is isolated, so that its clock has 5 µs rather than 100.
fn respond(request: Request, status: u16, kind: &str, body: Vec<u8>) {
    let mut response = Response::from_data(body).with_status_code(status);
    for (name, value) in [
        ("Content-Type", kind),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Embedder-Policy", "require-corp"),
        ("Cache-Control", "no-store"),
    ] {
        if let Ok(header) = Header::from_bytes(name, value) {
            response.add_header(header);
        }
    }
    let _ = request.respond(response);
}

/// The script of the page, which `npm run build` in clients/web makes.
fn script() -> Result<Vec<u8>, String> {
    let named = std::env::var_os("SKIPSTONE_STRESS_PAGE").map(PathBuf::from);
    let beside = [std::env::current_exe().ok(), std::env::current_dir().ok()];
    let beside = beside.iter().flatten().flat_map(|path| path.ancestors()).map(|folder| folder.join(SCRIPT));
    let found = named.clone().map_or_else(|| beside.into_iter().find(|path| path.is_file()), Some);
    let found = found.ok_or_else(|| {
        format!(
            "the page of stress clients is not built: run `npm ci && npm run build` in clients/web, or name its \
             script by SKIPSTONE_STRESS_PAGE (it is {SCRIPT})"
        )
    })?;
    std::fs::read(&found).map_err(|error| format!("the page of stress clients, {}: {error}", found.display()))
}

const SCRIPT: &str = "clients/web/dist/stress.js";

/// It cannot be guessed without reading this process.
fn secret() -> String {
    use std::hash::{BuildHasher, Hasher};
    let word = || std::collections::hash_map::RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", word(), word())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_start_together_and_an_early_report_ends_no_run() {
        let waiting = Mutex::new(vec![Waiting::default()]);
        let site = |order| {
            let mut all = waiting.lock();
            all[0].orders.push(order);
        };
        assert_eq!(take(&waiting, 0), Some((vec![], false)));
        assert_eq!(take(&waiting, 1), None);
        site(Order::Start { epoch_ms: 0.0, interval_ms: 1.0, until_ms: 1.0, clients: 1, run: 1, bytes: None });
        assert!(take(&waiting, 0).is_some_and(|(orders, had_begun)| orders.len() == 1 && !had_begun));
        assert_eq!(take(&waiting, 0), Some((vec![], true)));
    }
}
