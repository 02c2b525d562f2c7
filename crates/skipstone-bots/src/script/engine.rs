//! A VM: the script compiled once, the functions that it finds, and the limits of memory and time.

use super::fault::ScriptFault;
use super::folder::ScriptFolder;
use super::host::Host;
use super::memory::{Hoard, Memory};
use super::shared::{Building, Declared, Shared};
use super::watchdog::{Watch, Watchdog};
use super::{modules, natives, random};
use crate::plan::ScriptOptions;
use mlua::chunk::Compiler;
use mlua::{Function, Lua, LuaOptions, MultiValue, StdLib, Table, Value};
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// What the scripts of a VM may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EngineLimits {
    /// Memory of all its bots.
    pub(crate) memory_bytes: usize,
}

impl EngineLimits {
    /// Limits for that many bots.
    pub(crate) fn for_bots(count: u32) -> Self {
        EngineLimits { memory_bytes: MEMORY_BASE + MEMORY_PER_BOT * count as usize }
    }
}

/// A VM, and the script in it.
pub(crate) struct Engine {
    /// Before the VM, which it points into.
    watch: Watch,
    pub(super) shared: Rc<Shared>,
    main: Function,
    /// Of each bot's environment: what it does not have itself is that of all.
    metatable: Table,
    memory: Memory,
    memory_max: usize,
    /// Beyond this, a bot that holds too much is looked for.
    crowded_at: Cell<usize>,
    /// Whether a call has reached the limit of memory: what it allocated is to be collected before the next one.
    is_exhausted: Cell<bool>,
    calls: Cell<u64>,
    spent: Cell<Duration>,
    pub(super) lua: Lua,
}

impl Engine {
    /// Compiles a script.
    ///
    /// # Errors
    /// A syntax error, with its place.
    pub(crate) fn new(
        folder: ScriptFolder,
        host: Rc<dyn Host>,
        watchdog: &Watchdog,
        limits: EngineLimits,
    ) -> Result<Self, ScriptFault> {
        let shared = Shared::new(host, folder);
        let (lua, metatable) = virtual_machine(&shared).map_err(|error| shared.fault(&error))?;
        let (name, source) = (&shared.folder.name, &shared.folder.source);
        let main = lua.load(source.as_str()).set_name(format!("={name}")).into_function();
        let main = main.map_err(|error| shared.fault(&error))?;
        let watch = watchdog.watch(&lua);
        Ok(Engine {
            watch,
            main,
            metatable,
            memory: Memory::of(&lua),
            memory_max: limits.memory_bytes,
            crowded_at: Cell::new(limits.memory_bytes / 4 * 3),
            is_exhausted: Cell::default(),
            calls: Cell::default(),
            spent: Cell::default(),
            lua,
            shared,
        })
    }

    /// What the script asks for, as far as its body has run.
    pub(crate) fn options(&self) -> ScriptOptions {
        self.shared.options.borrow().clone()
    }

    /// Memory in use.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.lua.used_memory()
    }

    /// Memory of a bot, and of those that are counted with it.
    pub(crate) fn memory_of(&self, bot: u32) -> usize {
        self.memory.of_bot(bot)
    }

    /// Whether the bots use so much together that one of them may hold too much.
    pub(crate) fn is_crowded(&self) -> bool {
        self.lua.used_memory() > self.crowded_at.get()
    }

    /// Collects garbage; if half of the memory is used all the same, says whose memory is far more than that of others.
    pub(crate) fn find_hoard(&self) -> Option<Hoard> {
        self.collect();
        let is_scarce = self.lua.used_memory() > self.memory_max / 2;
        let hoard = if is_scarce { self.memory.hoard() } else { None };
        if hoard.is_none() {
            // To collect takes long: not again before there is considerably more.
            let soon = self.lua.used_memory() / 8 * 9;
            self.crowded_at.set(self.crowded_at.get().max(soon));
        }
        hoard
    }

    /// Calls of the script, and the time in them.
    pub(crate) fn cost(&self) -> (u64, Duration) {
        (self.calls.get(), self.spent.get())
    }

    /// Runs the script's body in an environment of its own. The host answers for the bot.
    pub(super) fn build(&self) -> Result<Declared, ScriptFault> {
        let environment = self.environment().map_err(|error| self.shared.fault(&error))?;
        let building = Building {
            environment: environment.clone(),
            modules: Default::default(),
            loading: Vec::new(),
            declared: None,
        };
        *self.shared.building.borrow_mut() = Some(building);
        let ran = self.guarded(|| {
            let main = self.main.deep_clone()?;
            main.set_environment(environment)?;
            main.call::<()>(())
        });
        let built = self.shared.building.borrow_mut().take();
        ran?;
        built.and_then(|building| building.declared).ok_or_else(|| {
            ScriptFault::new(format!(
                "{}: the script describes no bot: it needs skipstone.bot{{ api = 1, connect = \"udp://host:port\" }}",
                self.shared.folder.name
            ))
        })
    }

    /// What is allocated from now on belongs to the bot for which the host answers.
    pub(super) fn enter(&self) {
        self.memory.enter(self.shared.host.number());
    }

    /// A call of the script, with its limits and its account.
    pub(super) fn guarded<T>(&self, call: impl FnOnce() -> mlua::Result<T>) -> Result<T, ScriptFault> {
        if self.is_exhausted.take() {
            self.collect();
        }
        self.enter();
        let began = Instant::now();
        self.watch.begin(began);
        self.limit_memory(self.memory_max.min(self.lua.used_memory() + MEMORY_PER_CALL));
        let called = call();
        self.limit_memory(0);
        self.watch.end();
        self.calls.set(self.calls.get() + 1);
        self.spent.set(self.spent.get() + began.elapsed());
        called.map_err(|error| {
            let fault = self.shared.fault(&error);
            self.is_exhausted.set(fault.is_of_memory());
            // They would run as the next bot's.
            self.shared.spawned.borrow_mut().clear();
            fault
        })
    }

    fn collect(&self) {
        self.lua.gc_collect().expect("objects of scripts have no finalizers");
    }

    /// While the limit is off, which is while no script runs, calls into the VM need no protection from its errors.
    fn limit_memory(&self, bytes: usize) {
        self.lua.set_memory_limit(bytes).expect("the VM has an allocator of its own");
    }

    fn environment(&self) -> mlua::Result<Table> {
        let environment = self.lua.create_table()?;
        environment.set_metatable(Some(self.metatable.clone()))?;
        // Names of the libraries may be looked up once for all bots: no script can change them.
        environment.set_safeenv(true);
        Ok(environment)
    }
}

impl Shared {
    pub(super) fn fault(&self, error: &mlua::Error) -> ScriptFault {
        let sources = self.sources.borrow();
        ScriptFault::of(error, |name| sources.get(name).map(|source| &**source))
    }
}

/// A VM with the functions of scripts, which no script can change; and the metatable of environments.
fn virtual_machine(shared: &Rc<Shared>) -> mlua::Result<(Lua, Table)> {
    let lua = Lua::new_with(StdLib::ALL_SAFE, LuaOptions::new())?;
    // Errors of the prelude name the script's line by counting calls, which inlining would change.
    lua.set_compiler(Compiler::new().set_optimization_level(1).set_debug_level(1));
    let globals = lua.globals();
    for name in LEFT_OUT {
        globals.raw_set(*name, Value::Nil)?;
    }
    let math: Table = globals.raw_get("math")?;
    math.raw_set("random", random::function(&lua, Rc::clone(&shared.host))?)?;
    math.raw_set("randomseed", Value::Nil)?;
    let natives = natives::natives(&lua, shared)?;
    let prelude: Table = lua.load(include_str!("prelude.luau")).set_name("=skipstone").call(natives)?;
    for name in ["skipstone", "metrics", "check", "data", "http", "json", "protobuf"] {
        globals.raw_set(name, prelude.raw_get::<Value>(name)?)?;
    }
    globals.raw_set("require", modules::require(&lua, Rc::clone(shared))?)?;
    globals.raw_set("print", printing(&lua, shared)?)?;
    lua.sandbox(true)?;
    let base: Value = lua.globals().metatable().map_or(Ok(Value::Nil), |own| own.raw_get("__index"))?;
    let metatable = lua.create_table()?;
    metatable.raw_set("__index", base)?;
    metatable.raw_set("__metatable", "the environment of a bot")?;
    metatable.set_readonly(true);
    Ok((lua, metatable))
}

fn printing(lua: &Lua, shared: &Rc<Shared>) -> mlua::Result<Function> {
    let own = Rc::clone(shared);
    lua.create_function(move |_, values: MultiValue| {
        let texts: mlua::Result<Vec<String>> = values.iter().map(Value::to_string).collect();
        own.host.print(&texts?.join("\t"));
        Ok(())
    })
}

/// Clocks and dates differ from run to run; the others lead out of the environment.
const LEFT_OUT: &[&str] = &["os", "debug", "collectgarbage", "gcinfo", "getfenv", "setfenv", "loadstring", "newproxy"];
/// What a VM may use beside its bots.
const MEMORY_BASE: usize = 256 << 20;
const MEMORY_PER_BOT: usize = 256 << 10;
/// What a call may allocate beyond what was there: one that runs away leaves room for the others.
const MEMORY_PER_CALL: usize = 64 << 20;
