//! The request to a page, in the format of `clients/web/stress/main.ts`.

use serde::Serialize;

/// An order to a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "order", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum Order {
    /// These clients connect.
    Connect {
        /// The server's URL.
        url: String,
        /// Their numbers in the run.
        numbers: Vec<u32>,
    },
    /// Lines are due.
    Start {
        /// The time from which on they are, in ms since 1970.
        epoch_ms: f64,
        /// The time from one line of a client to its next.
        interval_ms: f64,
        /// When sending ends.
        until_ms: f64,
        /// Clients of the whole run, over which an interval is spread.
        clients: u32,
        /// The run's name in its lines.
        run: u16,
        /// Bytes of a line; `None` for sentences.
        bytes: Option<usize>,
    },
    /// All connections end.
    Close,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_encoded_as_the_page_expects() {
        let start = Order::Start { epoch_ms: 1.5, interval_ms: 2.0, until_ms: 3.0, clients: 4, run: 5, bytes: None };
        let written = serde_json::to_value([Order::Close, start]).expect("it is JSON");
        let expected = serde_json::json!([
            { "order": "close" },
            { "order": "start", "epochMs": 1.5, "intervalMs": 2.0, "untilMs": 3.0, "clients": 4, "run": 5,
                "bytes": null },
        ]);
        assert_eq!(written, expected);
    }
}
