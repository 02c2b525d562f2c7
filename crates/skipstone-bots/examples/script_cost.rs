//! What scripts cost: a run of `arena.luau` against a server in this process, and the same calls of the same script in
//! bare mlua, without sockets, limits and a sandbox: the floor.
//!
//! ```sh
//! cargo run --release -p skipstone-bots --example script_cost -- 1000 10
//! ```
//! The arguments are bots and seconds. CPU time of the bots' thread includes their sockets.

use clap::Parser;
use mlua::{Buffer, Function, Lua, Table};
use nix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    bots: skipstone_bots::BotsArguments,
}

/// Answers each third datagram of a client with entities.
fn serve(socket: &UdpSocket) {
    let (mut incoming, snapshot) = ([0; 2048], snapshot());
    while let Ok((count, from)) = socket.recv_from(&mut incoming) {
        let sequence = incoming[..count].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        if sequence % 3 == 0 {
            // A full buffer is a lost snapshot.
            let _ = socket.send_to(&snapshot, from);
        }
    }
}

/// Twenty entities of twelve bytes.
fn snapshot() -> Vec<u8> {
    let entity = |id: u32| {
        let [x, y] = [id * 37 % 101, id * 61 % 97].map(|place| (place as f32).to_le_bytes());
        [id.to_le_bytes(), x, y].concat()
    };
    (0..20).flat_map(entity).collect()
}

fn cpu_time() -> Result<Duration, nix::Error> {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from)
}

/// The script's functions with nothing around them: CPU time of that many seconds at 60 ticks and 20 snapshots.
fn floor(source: &str, bots: usize, seconds: usize) -> Result<Duration, Box<dyn Error>> {
    let lua = Lua::new();
    lua.set_compiler(mlua::chunk::Compiler::new().set_optimization_level(2));
    let stub =
        "local made = ... return { bot = function() local bot = { send = function() end } made(bot) return bot end,
        options = function() end }";
    let kept = lua.create_table()?;
    let keep = kept.clone();
    let on_made = lua.create_function(move |_, bot: Table| keep.raw_set(1, bot))?;
    lua.globals().set("skipstone", lua.load(stub).call::<Table>(on_made)?)?;
    lua.sandbox(true)?;
    let main = lua.load(source).into_function()?;
    let mut calls: Vec<(Table, Function, Function)> = Vec::new();
    for _ in 0..bots {
        main.call::<()>(())?;
        let bot: Table = kept.raw_get(1)?;
        let (tick, message) = (bot.get("tick")?, bot.get("message")?);
        calls.push((bot, tick, message));
    }
    let snapshot = snapshot();
    let began = cpu_time()?;
    for step in 0..seconds * 60 {
        for (bot, tick, message) in &calls {
            tick.call::<()>((bot, step as f64 / 60.0))?;
            if step % 3 == 0 {
                let data: Buffer = lua.create_buffer(&snapshot)?;
                message.call::<()>((bot, 0, data))?;
            }
        }
    }
    Ok(cpu_time()?.saturating_sub(began))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<usize>());
    let bots = arguments.next().unwrap_or(Ok(1000))?;
    let seconds = arguments.next().unwrap_or(Ok(10))?;
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/arena.luau");
    let source = std::fs::read_to_string(&script)?;
    let server = UdpSocket::bind("127.0.0.1:0")?;
    let url = format!("udp://{}", server.local_addr()?);
    std::thread::spawn(move || serve(&server));
    let words = ["bots", &script.to_string_lossy(), &url, "-c", &bots.to_string(), "-d", &format!("{seconds}s")];
    let own = ["--ramp", "1s", "--workers", "1", "--quiet"];
    let line = Line::try_parse_from(words.into_iter().chain(own))?;
    let began = Instant::now();
    let exit = skipstone_bots::run(&line.bots);
    println!("the run: {exit:?} after {:.1} s", began.elapsed().as_secs_f64());
    let floor = floor(&source, bots, seconds)?;
    let percent = 100.0 * floor.as_secs_f64() / seconds as f64;
    println!("the floor, bare mlua: {percent:.1}% of a core");
    Ok(())
}
