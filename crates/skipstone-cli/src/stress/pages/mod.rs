//! Clients of a run in pages of headless browsers: over WebSocket or WebTransport, as players in browsers
//! have them.
//!
//! ```text
//! generator ──orders──> site ──HTTP on loopback──> page (clients/web/stress) ──> the server that is stressed
//! generator <─reports── site <───────────────────── page
//! ```
//! A page asks for orders with each report. It checks the lines that came and tells which; the run's ledger judges.

mod chromium;
mod order;
mod report;
mod site;

use chromium::Chromium;
pub(crate) use order::Order;
pub(crate) use report::Report;
use site::Site;
use skipstone::Stats;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The pages of a run.
pub(crate) struct Pages {
    site: Site,
    browsers: Vec<Chromium>,
    reports: mpsc::Receiver<site::ReceivedReport>,
    pages: Vec<Page>,
    /// The page of each client, by the client's number; `None` for clients of the tool's own.
    page_of: Vec<Option<usize>>,
}

/// A page, which has clients of one carrier.
#[derive(Debug)]
struct Page {
    carrier: usize,
    url: String,
    numbers: Vec<u32>,
    is_done: bool,
    stats: Stats,
    /// Connections that have begun and are not over.
    open: usize,
}

/// Clients of one page: `carrier` is their place in the mix.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    pub(crate) carrier: usize,
    /// The server of the page.
    pub(crate) url: String,
    pub(crate) numbers: Vec<u32>,
}

/// Clients of one page, unless other numbers are asked for: each browser is a separate process.
pub(crate) const CLIENTS: usize = 100;
/// Chromium opens 255 WebSockets in a page.
pub(crate) const CLIENTS_MAX: usize = 250;
/// Each takes some hundred MB, and a second of a core to start.
const BROWSERS_MAX: usize = 16;
/// How long a browser may take to show its page.
const START_MAX: Duration = Duration::from_secs(90);

impl Pages {
    /// Starts a browser for each share, each with its own profile, and waits for their pages. The run's clients have
    /// numbers below `clients`.
    pub(crate) fn start(shares: Vec<Share>, clients: usize) -> Result<Self, String> {
        if shares.len() > BROWSERS_MAX {
            return Err(format!(
                "{} headless browsers are too many for one machine: at most {BROWSERS_MAX}",
                shares.len()
            ));
        }
        let (tell, reports) = mpsc::sync_channel(site::REPORTS_MAX);
        let site = Site::start(shares.len(), tell)?;
        let mut page_of = vec![None; clients];
        for (page, share) in shares.iter().enumerate() {
            share.numbers.iter().for_each(|number| page_of[*number as usize] = Some(page));
        }
        let browsers = (0..shares.len()).map(|page| Chromium::start(&site.url_of(page))).collect::<Result<_, _>>()?;
        let page = |Share { carrier, url, numbers }| Page {
            carrier,
            url,
            numbers,
            is_done: true,
            stats: Stats::default(),
            open: 0,
        };
        let mut pages = Pages { site, browsers, reports, pages: shares.into_iter().map(page).collect(), page_of };
        pages.await_first_reports()?;
        Ok(pages)
    }

    fn await_first_reports(&mut self) -> Result<(), String> {
        let end = Instant::now() + START_MAX;
        let mut silent: Vec<usize> = (0..self.pages.len()).collect();
        while !silent.is_empty() {
            if let Ok(told) = self.reports.recv_timeout(Duration::from_millis(100)) {
                silent.retain(|page| *page != told.page);
            }
            if let Some(ended) = self.browsers.iter_mut().find_map(Chromium::ended) {
                return Err(format!("a headless browser ended at once: {ended}"));
            }
            if Instant::now() > end {
                return Err("a headless browser did not show the page of stress clients within 90 s".into());
            }
        }
        Ok(())
    }

    /// Whether a client lives in a page.
    pub(crate) fn has(&self, number: u32) -> bool {
        self.page_of.get(number as usize).is_some_and(Option::is_some)
    }

    /// Begins a client's connection.
    pub(crate) fn connect(&mut self, number: u32) {
        let Some(Some(page)) = self.page_of.get(number as usize).copied() else { return };
        let Page { url, open, .. } = &mut self.pages[page];
        *open += 1;
        self.site.order(page, Order::Connect { url: url.clone(), numbers: vec![number] });
    }

    /// Lines are due from the order's epoch on.
    pub(crate) fn begin(&mut self, order: &Order) {
        for page in 0..self.pages.len() {
            self.pages[page].is_done = false;
            self.site.order(page, order.clone());
        }
    }

    /// Ends all connections.
    pub(crate) fn close(&mut self) {
        (0..self.pages.len()).for_each(|page| self.site.order(page, Order::Close));
    }

    /// The report of a page, and the index of its carrier in the mix.
    pub(crate) fn poll(&mut self) -> Option<(usize, Report)> {
        let site::ReceivedReport { page, mut report, has_begun } = self.reports.try_recv().ok()?;
        let told = self.pages.get_mut(page)?;
        told.is_done |= has_begun && report.is_done;
        if !report.counters.is_empty() {
            told.stats = report.stats();
        }
        report.keep_own(&told.numbers);
        told.open = told.open.saturating_sub(report.closed.len());
        Some((told.carrier, report))
    }

    /// Clients of browsers that have ended, and why.
    pub(crate) fn poll_deserted(&mut self) -> Option<(Vec<u32>, String)> {
        let (page, why) = self.browsers.iter_mut().enumerate().find_map(|(at, it)| Some((at, it.ended_news()?)))?;
        let Page { numbers, is_done, open, .. } = &mut self.pages[page];
        (*is_done, *open) = (true, 0);
        Some((numbers.clone(), format!("its browser ended: {why}")))
    }

    /// Whether all lines of the run were sent, as far as it is the pages' to send them.
    pub(crate) fn is_done(&self) -> bool {
        self.pages.iter().all(|page| page.is_done)
    }

    /// Connections that are not over.
    pub(crate) fn open_count(&self) -> usize {
        self.pages.iter().map(|page| page.open).sum()
    }

    /// Adds the counters of a carrier's clients.
    pub(crate) fn add_stats(&self, sums: &mut [Stats]) {
        self.pages.iter().for_each(|page| sums[page.carrier].add(&page.stats));
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.browsers.clear();
    }
}
