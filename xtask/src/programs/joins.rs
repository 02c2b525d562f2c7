//! `cargo xtask joins`: clients that join a busy server over a bad network, a line for each cell of a matrix. Each cell
//! has its own server, background clients that talk on it over a clean path, and `stress --connects` next to them.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::machine::arguments::Arguments;
use crate::machine::process;
use crate::machine::tree::Tree;

/// One cell of the matrix, in the notation of the tool's flags.
struct Cell<'a> {
    carrier: &'a str,
    clients: &'a str,
    rate: &'a str,
    loss: &'a str,
    delay: &'a str,
}

/// A process that ends with its value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Builds the tool, optimised, and plays every cell. `Ok(false)` if a client of any cell had no answer.
pub(crate) fn joins(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let mut list = |name: &str, default: &str| -> Result<Vec<String>, String> {
        let text = arguments.take_value(name)?.unwrap_or_else(|| default.into());
        Ok(text.split(',').map(str::to_owned).collect())
    };
    let (carriers, clients) = (list("--carriers", "skip")?, list("--clients", "1,10,50")?);
    let (rates, losses, delays) = (list("--rates", "1/s")?, list("--losses", "2%")?, list("--delays", "10ms")?);
    arguments.expect_end()?;
    if let Some(other) = carriers.iter().find(|carrier| !CARRIERS.contains(&carrier.as_str())) {
        return Err(format!("`--carriers {other}`: joins are by {}", CARRIERS.join(", ")));
    }
    let mut cells = Vec::new();
    for carrier in &carriers {
        for clients in &clients {
            for rate in &rates {
                for loss in &losses {
                    cells.extend(delays.iter().map(|delay| Cell { carrier, clients, rate, loss, delay }));
                }
            }
        }
    }
    if cells.len() > CELLS_MAX {
        return Err(format!("{} cells of 20 s or more each; {CELLS_MAX} are the most in one go", cells.len()));
    }
    let mut cargo = process::cargo(tree);
    cargo.args(["build", "--release", "--package", "skipstone-cli"]);
    process::run(cargo)?;
    let tool = process::target_dir(tree).join("release/skipstone");
    println!(
        "{:<7}{:>8}{:>8}{:>8}{:>8}{:>18}{:>12}{:>12}",
        "carrier", "clients", "rate", "loss", "delay", HEAD, "p50", "p99"
    );
    let mut is_well = true;
    for cell in &cells {
        let found = cell.play(|| Command::new(&tool))?;
        println!("{}", found.line(cell));
        is_well &= found.unanswered == 0.0 && found.connected > 0.0 && found.connected == found.attempted;
    }
    Ok(is_well)
}

impl Cell<'_> {
    fn play(&self, tool: impl Fn() -> Command) -> Result<Joined, String> {
        let (_server, url) = self.serve(tool())?;
        let mut background = tool();
        background.args(["stress", &url, "-c", self.clients, "-r", self.rate, "-d", "1h", "-q"]);
        let _background = start(background)?;
        // The background clients are connected, and talk.
        std::thread::sleep(Duration::from_secs(3));
        let mut joining = tool();
        joining.args(["stress", &url, "--connects", "50/s", "-d", "15s", "-q", "--json", "-"]);
        if self.carrier != "ws" {
            joining.args(["--loss", self.loss, "--delay", self.delay]);
        }
        // WHY: its exit code is ignored, because clients without an answer are counted.
        let output = joining.stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| format!("the tool does not run: {error}"))?;
        Joined::read(&String::from_utf8_lossy(&output.stdout)).ok_or_else(|| "the tool wrote no result".into())
    }

    /// A server, and the URL of this cell's carrier.
    fn serve(&self, mut tool: Command) -> Result<(Running, String), String> {
        tool.args(["serve", "--listen", "127.0.0.1:0", "--console", "off", "--identity", "new", "--allow-plain"]);
        let mut server = start(tool)?;
        let mark = if self.carrier == "ws" { "ws://" } else { "skip://" };
        // The pipe stays open, because the server prints more.
        let mut lines = BufReader::new(server.0.stdout.as_mut().ok_or("its output is not read")?).lines();
        let url = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let mut words = line.split_whitespace();
            words.find(|word| word.starts_with(mark)).map(|url| self.url(url))
        });
        url.map(|url| (server, url)).ok_or_else(|| format!("the server printed no URL that begins with {mark}"))
    }

    /// The URL of this cell's carrier, from the one that the server prints.
    fn url(&self, printed: &str) -> String {
        let bare = printed.split('#').next().unwrap_or(printed);
        match self.carrier {
            "plain" => bare.replace("skip://", "skip+plain://"),
            "dtls" => printed.replace("skip://", "skip+dtls://"),
            _ => printed.to_owned(),
        }
    }
}

fn start(mut command: Command) -> Result<Running, String> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    child.map(Running).map_err(|error| format!("{} does not start: {error}", process::describe(&command)))
}

/// The figures of a cell; times in ms.
#[derive(Debug, PartialEq)]
struct Joined {
    attempted: f64,
    connected: f64,
    unanswered: f64,
    p50: Option<f64>,
    p99: Option<f64>,
}

impl Joined {
    /// From the JSON of `stress --connects`, where the counts of all carriers precede those of each.
    fn read(json: &str) -> Option<Joined> {
        let all = json.split_once("\"all\"")?.1;
        let number = |name: &str| -> Option<f64> {
            let rest = all.split_once(&format!("\"{name}\":"))?.1.trim_start();
            rest.split([',', '}', '\n']).next()?.trim().parse().ok()
        };
        Some(Joined {
            attempted: number("attempted")?,
            connected: number("connected")?,
            unanswered: number("unanswered")?,
            p50: number("p50"),
            p99: number("p99"),
        })
    }

    fn line(&self, cell: &Cell<'_>) -> String {
        let Cell { carrier, clients, rate, loss, delay } = cell;
        let (loss, delay) = if *carrier == "ws" { ("-", "-") } else { (*loss, *delay) };
        let ms = |time: Option<f64>| time.map_or("-".into(), |time| format!("{time:.1} ms"));
        let unanswered = format!("{} of {}", self.unanswered, self.attempted);
        let (p50, p99) = (ms(self.p50), ms(self.p99));
        format!("{carrier:<7}{clients:>8}{rate:>8}{loss:>8}{delay:>8}{unanswered:>18}{p50:>12}{p99:>12}")
    }
}

const HEAD: &str = "unanswered";
/// Native clients; `ws` has no bad network, since it would have to be applied below TCP's retransmission.
const CARRIERS: [&str; 4] = ["skip", "plain", "dtls", "ws"];
/// An hour and a half.
const CELLS_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_cover_all_carriers() {
        let json = "{\"rate\": \"50/s\", \"all\": {\n  \"attempted\": 750,\n  \"connected\": 738,\n  \"unanswered\": \
                    12,\n  \"connect_ms\": {\n \"p50\": 21.5, \"p99\": 1040.25 }\n}, \"carriers\": {\"udp\": \
                    {\"attempted\": 9, \"unanswered\": 9}}}";
        let found = Joined::read(json).expect("it is there");
        assert_eq!(
            found,
            Joined { attempted: 750.0, connected: 738.0, unanswered: 12.0, p50: Some(21.5), p99: Some(1040.25) }
        );
        let cell = Cell { carrier: "skip", clients: "10", rate: "1/s", loss: "2%", delay: "10ms" };
        let line = "skip         10     1/s      2%    10ms         12 of 750     21.5 ms   1040.2 ms";
        assert_eq!(found.line(&cell), line);
    }
}
