//! Scripts that loop, hoard, reach for what is not theirs, or use calls in an order that nobody meant.

use super::{BOT, Bench, with_bot};
use crate::protocol::{Cause, Ending};
use crate::script::{BotScript, EngineLimits};
use std::path::Path;

/// What ends a call of a bot, whose library calls must not hide an endless loop.
fn ended_by(line: &str) -> String {
    let bench = Bench::new(&with_bot(&format!("function bot:message(channel, data)\n{line}\nend")));
    match bench.bot(0).on_message(&bench.engine, 0, b"x") {
        Ok(()) => "none".into(),
        Err(fault) => fault.to_string(),
    }
}

#[test]
fn a_loop_of_long_library_calls_is_endless_too() {
    let fault = ended_by("local text = string.rep('x', 12000000) while true do local _ = string.upper(text) end");
    assert!(fault.contains("endless loop"), "{fault}");
}

#[test]
fn endless_loops_end_whatever_catches_their_errors() {
    for line in [
        "while true do pcall(function() while true do end end) end",
        "local function f() pcall(f) pcall(f) f() end f()",
        "xpcall(function() while true do end end, function() while true do end end) while true do end",
        "coroutine.wrap(function() while true do end end)()",
        "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
        "string.gsub(string.rep('x', 1000), 'x', function() while true do end end)",
        "table.sort({ 3, 2, 1 }, function() while true do end end)",
        "string.find(string.rep('a', 30000), string.rep('a-', 60) .. 'b')",
        "local list = {} for at = 1, 3000000 do list[at] = -at % 7919 end table.sort(list)",
        "local all = setmetatable({}, { __index = function(t, k) while true do end end }) print(all.x)",
        "repeat until tostring(setmetatable({}, { __tostring = function() while true do end end }))",
        "for _ in function() return 1 end do end",
    ] {
        let fault = ended_by(line);
        assert!(fault.contains("endless loop") || fault.contains("stack overflow"), "{line}: {fault}");
        assert!(fault.starts_with("bot.luau:3:"), "{line}: {fault}");
    }
}

#[test]
fn calls_that_nothing_interrupts_are_bounded() {
    for (line, told) in [
        ("table.move({}, 1, 2000000000, 2, {})", "table.move moves at most"),
        ("string.find(string.rep('a', 1000000), string.rep('a', 500000) .. 'b', 1, true)", "too long together"),
        ("string.split(string.rep('a', 1000000), string.rep('a', 500000) .. 'b')", "too long together"),
        ("json.decode(string.rep('[', 5000000))", "json.decode: 5000000 bytes"),
        ("json.decode(string.rep('[', 100000))", "json.decode: "),
        ("local t = {} for _ = 1, 1000 do t = { t } end json.encode(t)", "json.encode: "),
        ("local t = {} t.t = t json.encode(t)", "json.encode: "),
        ("string.rep('x', 1000000000)", "memory"),
        ("table.create(50000000, 1)", "memory"),
        ("buffer.create(1000000000)", "memory"),
        ("string.format('%999d', 1)", "invalid"),
        ("self:send(0, 'x', { due = 1e300 })", "due is a time"),
        ("self:send(0, 'x', { due = -1 })", "due is a time"),
        ("string.find('x', 3, {})", "invalid argument #3"),
    ] {
        let fault = ended_by(line);
        assert!(fault.contains(told) && !fault.contains("skipstone:"), "{line}: {fault}");
        // Without memory, Luau has no room to say where.
        assert!(told == "memory" || fault.starts_with("bot.luau:3:"), "{line}: {fault}");
    }
}

#[test]
fn bots_share_nothing_that_a_script_can_change() {
    for line in [
        "getmetatable('').__index = nil",
        "getmetatable('').__add = function() end",
        "string.upper = nil",
        "rawset(string, 'upper', nil)",
        "table.clear(string)",
        "setmetatable(string, {})",
        "_G.shared = 1",
        "rawset(_G, 'shared', 1)",
        "getmetatable(self).send = nil",
        "getmetatable(metrics.trend('x_ms')).__index.add = nil",
        "getmetatable(metrics.requests('y_ms')).got = nil",
        "metrics.trend = nil",
        "skipstone.now = nil",
        "coroutine.close(coroutine.running())",
        "coroutine.resume(coroutine.running())",
        "return getfenv(0).x",
        "return debug.info(1, 'f').x",
        "return loadstring('return 1').x",
        "return io.open('/etc/passwd').x",
        "return os.getenv('HOME').x",
        "return package.loaded.x",
    ] {
        let fault = ended_by(line);
        assert_ne!(fault, "none", "{line}");
        assert!(fault.starts_with("bot.luau:3:"), "{line}: {fault}");
    }
    // The VM's own thread, which holds the tool's values, is no script's.
    let bench = Bench::new(&with_bot(
        "local vm
        function bot:message() vm = coroutine.running() end
        function bot:connected()
            self:send(0, tostring(vm))
            self:send(0, tostring(coroutine.status(coroutine.running())))
        end",
    ));
    let mut bot = bench.bot(0);
    bot.on_message(&bench.engine, 0, b"").expect("told");
    bot.on_connected(&bench.engine).expect("told");
    assert_eq!(bench.sent_texts(), ["nil", "running"]);
}

#[test]
fn a_bot_that_fills_the_memory_leaves_the_others_theirs() {
    // Small objects use the limit nearly to its end.
    let source = with_bot(
        "function bot:message(channel, data)
            if data == 'grow' then
                local head
                while true do head = table.create(100, head) end
            end
            self:send(0, string.rep(data, 1000))
        end",
    );
    let limits = EngineLimits { memory_bytes: 6 << 20 };
    let bench = Bench::within(&source, Path::new("."), limits).expect("it compiles");
    let (mut first, mut second) = (bench.bot(0), bench.bot(1));
    let fault = first.on_message(&bench.engine, 0, b"grow").expect_err("an error").to_string();
    assert!(fault.contains("memory"), "{fault}");
    for _ in 0..100 {
        second.on_message(&bench.engine, 0, b"good").expect("there is memory");
    }
    assert_eq!(bench.sent_texts().len(), 100);
}

#[test]
fn the_bot_that_holds_too_much_is_found_before_others_have_no_memory() {
    let source = with_bot(
        "local kept = {}
        function bot:message(channel, data)
            if data == 'keep' then table.insert(kept, buffer.create(500000)) else string.rep(data, 100000) end
        end",
    );
    let limits = EngineLimits { memory_bytes: 32 << 20 };
    let bench = Bench::within(&source, Path::new("."), limits).expect("it compiles");
    let mut bots: Vec<BotScript> = (0..20).map(|number| bench.bot(number)).collect();
    let mut found = None;
    for round in 0..100 {
        for (number, bot) in (0..).zip(&mut bots) {
            bench.host.number.set(number);
            let data: &[u8] = if number == 7 { b"keep" } else { b"use" };
            bot.on_message(&bench.engine, 0, data).unwrap_or_else(|fault| panic!("{round}: {fault}"));
        }
        if bench.engine.is_crowded() {
            found = bench.engine.find_hoard();
        }
        if found.is_some() {
            break;
        }
    }
    let hoard = found.expect("there is one");
    assert!(hoard.may_be_of(7) && !hoard.may_be_of(8) && hoard.bytes > 8 << 20, "{hoard:?}");
}

#[test]
fn functions_that_a_failed_call_has_spawned_are_not_the_next_bots() {
    let bench = Bench::new(&with_bot(
        "function bot:message(channel, data)
            self:spawn(function() self:send(0, `{data} of {self.number}`) end)
            if data == 'bad' then error('oops') end
        end",
    ));
    let (mut first, mut second) = (bench.bot(0), bench.bot(1));
    first.on_message(&bench.engine, 0, b"bad").expect_err("an error");
    second.on_message(&bench.engine, 0, b"good").expect("told");
    assert_eq!(bench.sent_texts(), ["good of 1"]);
}

#[test]
fn a_module_that_failed_may_be_required_again() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("broken.luau"), "error('oops')").expect("written");
    std::fs::write(folder.path().join("circle.luau"), "return require('./circle')").expect("written");
    let source = with_bot(
        "local _, first = pcall(require, './broken')
        local _, second = pcall(require, './broken')
        local _, circle = pcall(require, './circle')
        function bot:message() self:send(0, `{first}\\n{second}\\n{circle}`) end",
    );
    let bench = Bench::within(&source, folder.path(), EngineLimits::for_bots(1)).expect("it compiles");
    bench.bot(0).on_message(&bench.engine, 0, b"").expect("told");
    let told = bench.sent_texts().join("");
    assert_eq!(told.matches("broken.luau:1: oops").count(), 2, "{told}");
    assert!(told.contains("requires itself"), "{told}");
}

#[test]
fn a_bot_closes_and_connects_in_one_breath() {
    let bench = Bench::new(&with_bot(
        "function bot:start()
            self:connect()
            self:close()
            self:send(0, `again: {self:connect()}`)
        end
        function bot:closed(cause) self:send(0, cause) end",
    ));
    let (engine, mut bot) = (&bench.engine, bench.bot(0));
    bot.begin(engine).expect("begun");
    assert!(bot.take_order().is_some());
    bot.on_connected(engine).expect("told");
    assert!(bench.host.closed.get());
    bot.on_closed(engine, &Ending::new(Cause::Closed, "")).expect("told");
    bench.host.closed.set(false);
    assert_eq!(bench.sent_texts(), ["closed"]);
    assert!(bot.take_order().is_some(), "it waits for the next connection");
    bot.on_connected(engine).expect("told");
    assert_eq!(bench.sent_texts(), ["again: true"]);
}

#[test]
fn a_bot_without_start_has_no_end_of_its_own() {
    let bench = Bench::new(BOT);
    let mut bot = bench.bot(0);
    bot.begin(&bench.engine).expect("begun");
    assert!(!bot.is_done());
}

#[test]
fn bots_that_leave_give_back_their_memory() {
    let bench = Bench::new(&with_bot(
        "local kept = {}
        for number = 1, 500 do kept[number] = { number } end
        function bot:start()
            self:spawn(function() self:sleep(1e9) end)
            self:connect()
            self:wait()
        end",
    ));
    let live = |count: u32| {
        for number in 0..count {
            let mut bot = bench.bot(number);
            bot.begin(&bench.engine).expect("begun");
            bot.on_connected(&bench.engine).expect("told");
        }
        bench.engine.memory_bytes()
    };
    let (early, late) = (live(300), live(3000));
    assert!(late < early * 2, "{early} bytes became {late}");
}
