//! Scripts against a host without sockets and with a clock that tests set.

mod fuzzed_scripts;
mod hostile_scripts;

use super::{BotScript, Engine, EngineLimits, Host, ScriptFolder, Watchdog};
use crate::metrics::{MetricId, MetricKind, Metrics};
use crate::protocol::{Cause, Delivery, Ending, Outgoing, ProtocolFigures};
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;

/// A message that a bot sent: its number, channel, delivery, bytes and due time.
type SentMessage = (u32, u16, Option<Delivery>, Vec<u8>, Option<f64>);

#[derive(Default)]
struct TestHost {
    now: Cell<f64>,
    number: Cell<u32>,
    random: Cell<u64>,
    sent: RefCell<Vec<SentMessage>>,
    closed: Cell<bool>,
    refusal: Cell<Option<&'static str>>,
    metrics: RefCell<Metrics>,
    printed: RefCell<Vec<String>>,
}

impl Host for TestHost {
    fn now(&self) -> f64 {
        self.now.get()
    }

    fn number(&self) -> u32 {
        self.number.get()
    }

    fn random(&self) -> u64 {
        let word = self.random.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.random.set(word);
        word
    }

    fn send(&self, message: Outgoing<'_>, due: Option<f64>) -> Result<(), String> {
        let sent = (self.number(), message.channel, message.delivery, message.data.to_vec(), due);
        self.sent.borrow_mut().push(sent);
        self.refusal.get().map_or(Ok(()), |why| Err(why.into()))
    }

    fn close(&self) {
        self.closed.set(true);
    }

    fn is_closing(&self) -> bool {
        self.closed.get()
    }

    fn figures(&self) -> Option<ProtocolFigures> {
        None
    }

    fn metric(&self, name: &str, kind: MetricKind) -> Result<MetricId, String> {
        self.metrics.borrow_mut().register(name, kind).map_err(|refused| refused.to_string())
    }

    fn record(&self, id: MetricId, value: f64) -> Result<(), String> {
        self.metrics.borrow_mut().record(id, value, self.now()).map_err(|refused| refused.to_string())
    }

    fn print(&self, line: &str) {
        self.printed.borrow_mut().push(line.into());
    }
}

/// A VM with a script, and its host.
struct Bench {
    host: Rc<TestHost>,
    // Before the watchdog, which watches it.
    engine: Engine,
    _watchdog: Watchdog,
}

impl Bench {
    fn new(source: &str) -> Self {
        Self::within(source, Path::new("."), EngineLimits::for_bots(10)).expect("it compiles")
    }

    fn within(source: &str, folder: &Path, limits: EngineLimits) -> Result<Self, String> {
        let (host, watchdog) = (Rc::new(TestHost::default()), Watchdog::start().expect("a thread"));
        let folder = ScriptFolder::of_text("bot.luau", source, folder);
        let engine = Engine::new(folder, host.clone(), &watchdog, limits).map_err(|fault| fault.to_string())?;
        Ok(Bench { host, engine, _watchdog: watchdog })
    }

    fn bot(&self, number: u32) -> BotScript {
        self.host.number.set(number);
        BotScript::new(&self.engine).unwrap_or_else(|fault| panic!("{fault}"))
    }

    /// The error of a body.
    fn refusal(source: &str) -> String {
        match Bench::within(source, Path::new("."), EngineLimits::for_bots(1)) {
            Ok(bench) => match BotScript::new(&bench.engine) {
                Ok(_) => "none".into(),
                Err(fault) => fault.to_string(),
            },
            Err(why) => why,
        }
    }

    fn sent_texts(&self) -> Vec<String> {
        self.host.sent.take().into_iter().map(|(.., data, _)| String::from_utf8_lossy(&data).into_owned()).collect()
    }
}

const BOT: &str = "local bot = skipstone.bot{ api = 1, connect = 'udp://127.0.0.1:9', text = true }\n";

fn with_bot(rest: &str) -> String {
    BOT.to_owned() + rest
}

#[test]
fn ticks_and_messages_reach_the_callbacks() {
    let source = "local bot = skipstone.bot{ api = 1, tick = 60 }
        function bot:tick(now)
            local packet = buffer.create(8)
            buffer.writef64(packet, 0, now)
            self:send(3, packet, { due = now, delivery = 'unreliable' })
        end
        function bot:message(channel, data)
            self:send(channel, data)
        end";
    let bench = Bench::new(source);
    let mut bot = bench.bot(0);
    assert_eq!((bot.tick_hz(), bot.url()), (Some(60.0), None));
    bot.begin(&bench.engine).expect("begun");
    assert!(bot.take_order().is_some(), "without start, it connects at once");
    bot.on_connected(&bench.engine).expect("connected");
    bot.tick(&bench.engine, 0.25).expect("ticked");
    bot.on_message(&bench.engine, 7, b"\x01\x02").expect("told");
    let sent = bench.host.sent.take();
    assert_eq!(sent[0], (0, 3, Some(Delivery::Unreliable), 0.25_f64.to_le_bytes().to_vec(), Some(0.25)));
    assert_eq!(sent[1], (0, 7, None, vec![1, 2], None));
}

#[test]
fn bots_of_a_vm_share_no_variable() {
    let bench = Bench::new(&with_bot(
        "count = 0
        local own = 0
        function bot:message()
            count += 1
            own += 1
            self:send(0, `{self.number}: {count} {own}`)
        end",
    ));
    let (mut first, mut second) = (bench.bot(0), bench.bot(1));
    first.on_message(&bench.engine, 0, b"").expect("told");
    bench.host.number.set(1);
    second.on_message(&bench.engine, 0, b"").expect("told");
    bench.host.number.set(0);
    first.on_message(&bench.engine, 0, b"").expect("told");
    assert_eq!(bench.sent_texts(), ["0: 1 1", "1: 1 1", "0: 2 2"]);
}

#[test]
fn a_bot_reads_from_top_to_bottom() {
    let bench = Bench::new(&with_bot(
        "function bot:start()
            self:send(0, tostring(self:connect('udp://127.0.0.1:10')))
            local data, channel = self:wait('yes', 2)
            self:send(0, `{data} on {channel}`)
            self:sleep(1)
            self:send(0, tostring(self:wait(nil, 2)))
            self:send(0, 'end')
        end
        function bot:message(channel, data) self:send(9, `else: {data}`) end",
    ));
    let (engine, host) = (&bench.engine, &bench.host);
    let mut bot = bench.bot(0);
    bot.begin(engine).expect("begun");
    assert_eq!(bot.take_order().expect("an order").url.as_deref(), Some("udp://127.0.0.1:10"));
    bot.on_connected(engine).expect("connected");
    assert_eq!(bench.sent_texts(), ["true"]);
    host.now.set(1.0);
    bot.on_message(engine, 4, b"no").expect("told");
    bot.on_message(engine, 4, b"yes!").expect("told");
    assert_eq!(bench.sent_texts(), ["else: no", "yes! on 4"]);
    assert_eq!(bot.next_wake(), Some(2.0));
    bot.wake(engine, 1.9).expect("not yet");
    assert!(bench.sent_texts().is_empty());
    host.now.set(2.0);
    bot.wake(engine, 2.0).expect("woken");
    assert_eq!(bot.next_wake(), Some(4.0));
    bot.wake(engine, 4.0).expect("woken");
    assert_eq!(bench.sent_texts(), ["nil", "end"]);
    assert!(bot.is_done());
}

#[test]
fn the_end_of_a_connection_is_told_to_those_that_wait_or_to_closed() {
    let bench = Bench::new(&with_bot(
        "function bot:start()
            local ok, cause, text = self:connect()
            self:send(0, `{ok} {cause} {text}`)
            self:connect()
            local data, why = self:wait()
            self:send(0, `{data} {why} {self.is_connected}`)
        end
        function bot:closed(cause, text) self:send(0, `closed: {cause}`) end",
    ));
    let (engine, ending) = (&bench.engine, Ending::new(Cause::Refused, "full"));
    let mut bot = bench.bot(0);
    bot.begin(engine).expect("begun");
    assert!(bot.take_order().is_some());
    bot.on_closed(engine, &ending).expect("told");
    assert_eq!(bench.sent_texts(), ["false refused full"]);
    assert!(bot.take_order().is_some());
    bot.on_connected(engine).expect("told");
    assert!(bot.handles_closed());
    bot.on_closed(engine, &ending).expect("told");
    assert_eq!(bench.sent_texts(), ["nil closed false", "closed: refused"]);
}

#[test]
fn errors_have_line_and_column_and_the_bots_beside_go_on() {
    let bench = Bench::new(&with_bot(
        "function bot:message(channel, data)
            if data == 'bad' then
                local player = nil
                print(player.health)
            end
            self:send(0, data)
        end",
    ));
    let (mut first, mut second) = (bench.bot(0), bench.bot(1));
    let fault = first.on_message(&bench.engine, 0, b"bad").expect_err("an error");
    assert_eq!(fault.to_string(), "bot.luau:5:30: attempt to index nil with 'health'");
    second.on_message(&bench.engine, 0, b"good").expect("told");
    assert_eq!(bench.sent_texts(), ["good"]);
}

#[test]
fn what_the_tool_refuses_has_the_scripts_line() {
    let bench = Bench::new(&with_bot("function bot:message()\n    self:send(0, 'x')\nend"));
    bench.host.refusal.set(Some("the bot is not connected"));
    let fault = bench.bot(0).on_message(&bench.engine, 0, b"").expect_err("an error");
    assert_eq!(fault.to_string(), "bot.luau:3:5: the bot is not connected");
    for (line, told) in [
        ("self:send('a', 'b')", "bot.luau:2:29: bot:send takes a channel of 0 to 65535 first, not a"),
        ("self:send(0, {})", "bot.luau:2:29: bot:send takes a buffer or a string, not table"),
        ("self:send(0, '', { delivery = 'maybe' })", "there is no delivery \"maybe\"; there are reliable, "),
        ("self:wait()", "bot:wait waits, and tick and message cannot"),
        ("metrics.trend('1')", "\"1\" is no name of a metric"),
        ("metrics.trend('x'):add(-1)", "x: -1 is less than 0"),
        ("json.decode('{')", "json.decode: EOF"),
        ("data.text('../x')", "outside of the script's folder"),
        ("math.random(2, 1)", "there is no whole number of 2 to 1"),
        ("skipstone.bot{ api = 1 }", "call skipstone.bot at the top"),
        ("skipstone.now = nil", "readonly"),
        ("error()", "an error without a message"),
    ] {
        let bench = Bench::new(&with_bot(&format!("function bot:message() {line} end")));
        let fault = bench.bot(0).on_message(&bench.engine, 0, b"").expect_err(line).to_string();
        assert!(fault.contains(told), "{line}: {fault}");
        assert!(line == "error()" || fault.starts_with("bot.luau:2:"), "{line}: {fault}");
    }
}

#[test]
fn a_function_that_waits_learns_why_the_connection_ended() {
    let refused = Ending::new(Cause::Unreachable, "no program listens there");
    for (line, ends_after) in [("assert(self:connect())", 0), ("self:connect() assert(self:wait('x'))", 1)] {
        let bench = Bench::new(&with_bot(&format!("function bot:start() {line} end")));
        let (engine, mut bot) = (&bench.engine, bench.bot(0));
        bot.begin(engine).expect("begun");
        bot.take_order().expect("it connects");
        (0..ends_after).for_each(|_| bot.on_connected(engine).expect("told"));
        let fault = bot.on_closed(engine, &refused).expect_err("an error").to_string();
        let told = if ends_after == 0 { "" } else { "closed: " };
        assert!(fault.starts_with("bot.luau:2:"), "{fault}");
        assert!(fault.ends_with(&format!(": {told}unreachable: no program listens there")), "{fault}");
    }
}

#[test]
fn a_script_that_describes_no_bot_is_told_what_is_missing() {
    for (source, told) in [
        ("", "it needs skipstone.bot{ api = 1"),
        ("local x = = 1", "bot.luau:1:"),
        ("skipstone.bot{ api = 2 }", "bot.luau:1:1: skipstone.bot: api = 2; this tool has API 1"),
        ("skipstone.bot{}", "api = nil"),
        ("skipstone.bot{ api = 1, ticks = 3 }", "no field ticks"),
        ("skipstone.bot{ api = 1, tick = 0 }", "tick is a number of 0.001 to 1000"),
        ("skipstone.bot{ api = 1, tick = 60 }", "ticks need both"),
        ("local bot = skipstone.bot{ api = 1 } function bot:tick() end", "ticks need both"),
        ("skipstone.bot{ api = 1 } skipstone.bot{ api = 1 }", "called already"),
        ("local bot = skipstone.bot{ api = 1 } bot.message = 3", "bot.message is not a function"),
        ("skipstone.options{ client = 3 }", "skipstone.options: client: there are clients"),
        ("skipstone.options{ duration = 'soon' }", "duration: "),
        ("skipstone.options{ stages = { { to = 3 }, { on = 1 } } }", "stages: stage 2: "),
        ("skipstone.options{ thresholds = { 'fast' } }", "no comparison"),
        ("require('../secrets')", "outside of the script's folder"),
        ("print(os.clock())", "bot.luau:1:"),
    ] {
        let refusal = Bench::refusal(source);
        assert!(refusal.contains(told), "{source}: {refusal}");
    }
}

#[test]
fn options_are_read() {
    let bench = Bench::new(&with_bot(
        "skipstone.options{
            stages = { { to = 10, over = '5s' }, { hold = 60 }, { arrive = '20/s', over = '1m' } },
            thresholds = { ['spawn_ms.p99'] = '<200ms', 'bots.dropped==0' },
        }",
    ));
    let _bot = bench.bot(0);
    let options = bench.engine.options();
    let spans: Vec<u64> = options.stages.iter().map(|stage| stage.span().as_secs()).collect();
    assert_eq!(spans, [5, 60, 60]);
    let told: Vec<String> = options.thresholds.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["bots.dropped==0", "spawn_ms.p99<200ms"]);
}

#[test]
fn an_endless_loop_ends_its_bot_alone() {
    let bench = Bench::new(&with_bot(
        "function bot:message(channel, data)
            if data == 'loop' then
                pcall(function() while true do end end)
                while true do end
            end
            self:send(0, data)
        end",
    ));
    let (mut first, mut second) = (bench.bot(0), bench.bot(1));
    let fault = first.on_message(&bench.engine, 0, b"loop").expect_err("an error").to_string();
    assert!(fault.starts_with("bot.luau:") && fault.contains("endless loop"), "{fault}");
    second.on_message(&bench.engine, 0, b"good").expect("told");
    assert_eq!(bench.sent_texts(), ["good"]);
}

#[test]
fn a_bot_that_takes_all_memory_ends_alone() {
    let source = with_bot(
        "function bot:message(channel, data)
            if data == 'grow' then
                local all = {}
                while true do table.insert(all, string.rep('x', 1000000) .. #all) end
            end
            self:send(0, data)
        end",
    );
    let limits = EngineLimits { memory_bytes: 16 << 20 };
    let bench = Bench::within(&source, Path::new("."), limits).expect("it compiles");
    let (mut first, mut second) = (bench.bot(0), bench.bot(1));
    let fault = first.on_message(&bench.engine, 0, b"grow").expect_err("an error").to_string();
    assert!(fault.contains("memory"), "{fault}");
    second.on_message(&bench.engine, 0, b"good").expect("told");
    assert_eq!(bench.sent_texts(), ["good"]);
}

#[test]
fn random_numbers_are_those_of_the_seed() {
    let source = with_bot(
        "function bot:message()
            self:send(0, `{math.random()} {math.random(6)} {math.random(-5, 5)}`)
        end",
    );
    let told = |seed: u64| {
        let bench = Bench::new(&source);
        bench.host.random.set(seed);
        let mut bot = bench.bot(0);
        (0..20).for_each(|_| bot.on_message(&bench.engine, 0, b"").expect("told"));
        bench.sent_texts()
    };
    assert_eq!(told(5), told(5));
    assert_ne!(told(5), told(6));
    for line in told(9) {
        let numbers: Vec<f64> = line.split(' ').map(|number| number.parse().expect("a number")).collect();
        assert!((0.0..1.0).contains(&numbers[0]) && (1.0..=6.0).contains(&numbers[1]), "{line}");
        assert!((-5.0..=5.0).contains(&numbers[2]) && numbers[2].fract() == 0.0, "{line}");
    }
}

#[test]
fn requests_are_paired_with_their_answers() {
    let bench = Bench::new(&with_bot(
        "local requests = metrics.requests('move_ms', 2)
        function bot:message(channel, data)
            local what, key = string.match(data, '(%a+) (%d+)')
            if what == 'sent' then requests:sent(key) else requests:got(key) end
        end",
    ));
    let mut bot = bench.bot(0);
    for (now, line) in
        [(1.0, "sent 1"), (1.0, "sent 2"), (1.25, "got 1"), (1.5, "got 9"), (5.0, "sent 3"), (5.5, "got 3")]
    {
        bench.host.now.set(now);
        bot.on_message(&bench.engine, 0, line.as_bytes()).expect("told");
    }
    let figures = bench.host.metrics.borrow().figures(1.0);
    let text = format!("{:?} {:?}", figures["move_ms"], figures["move_ms_answered"]);
    assert!(text.contains("count: 2") && text.contains("min: Some(250.0)") && text.contains("yes: 2, no: 1"), "{text}");
}

#[test]
fn files_and_modules_come_from_the_scripts_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("names.txt", "Ada\nGrace\n");
    write("map.json", "{\"size\": [3, 4], \"name\": \"hall\"}");
    write("packets.luau", "count = (count or 0) + 1\nreturn { count = count, broken = function() error('oops') end }");
    let source = with_bot(
        "local packets = require('./packets')
        local again = require('packets.luau')
        local map = data.json('map.json')
        function bot:message(channel, what)
            if what == 'break' then packets.broken() end
            self:send(0, `{data.lines('names.txt')[2]} {map.size[2]} {map.name} {packets.count} {packets == again}`)
            self:send(0, `{pcall(function() map.name = 'other' end)} {data.json('map.json') == map}`)
        end",
    );
    let bench = Bench::within(&source, folder.path(), EngineLimits::for_bots(2)).expect("it compiles");
    let (mut first, mut second) = (bench.bot(0), bench.bot(1));
    first.on_message(&bench.engine, 0, b"").expect("told");
    second.on_message(&bench.engine, 0, b"").expect("told");
    let told = ["Grace 4 hall 1 true", "false true"];
    assert_eq!(bench.sent_texts(), [told, told].concat(), "each bot has the module's variables for itself");
    let fault = first.on_message(&bench.engine, 0, b"break").expect_err("an error");
    assert_eq!(fault.to_string(), "packets.luau:2:1: oops");
}

#[test]
fn spawned_functions_run_beside_the_others() {
    let bench = Bench::new(&with_bot(
        "function bot:connected()
            for number = 1, 3 do
                self:spawn(function(text)
                    self:sleep(4 - number)
                    self:send(0, `{text} {number}`)
                end, 'number')
            end
        end
        function bot:message()
            for number = 1, 100 do self:spawn(function() self:sleep(9) end) end
        end",
    ));
    let mut bot = bench.bot(0);
    bot.on_connected(&bench.engine).expect("connected");
    for now in [1.0, 2.0, 3.0] {
        bot.wake(&bench.engine, now).expect("woken");
    }
    assert_eq!(bench.sent_texts(), ["number 3", "number 2", "number 1"]);
    let fault = bot.on_message(&bench.engine, 0, b"").expect_err("too many");
    assert!(fault.to_string().contains("64 functions"), "{fault}");
}
