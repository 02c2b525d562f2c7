//! A bot of a script: its callbacks, and the functions that wait.

use super::engine::Engine;
use super::fault::ScriptFault;
use super::http;
use super::shared::{TASKS_MAX, number_of};
use crate::http::HttpResponse;
use crate::protocol::Ending;
use mlua::thread::ThreadStatus;
use mlua::{Function, IntoLuaMulti, MultiValue, Table, Thread, Value};

/// A bot of a script. Its host answers for it while its methods are called.
pub(crate) struct BotScript {
    bot: Table,
    connect: Option<String>,
    tick_hz: Option<f64>,
    is_text: bool,
    callbacks: Callbacks,
    tasks: Vec<Task>,
    order: Option<ConnectOrder>,
    /// Whether `connect` was called: the end of `start` then connects no more.
    has_asked: bool,
    /// Whether `start` has returned, or there is none.
    has_started: bool,
    /// Whether a function has waited for a time.
    has_waited: bool,
    /// Whether it has a `start`, and with that an end.
    has_start: bool,
}

/// A connection that the script asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConnectOrder {
    /// Where, if the script says that at the call.
    pub(crate) url: Option<String>,
}

/// What the script has by these names once its body has run.
struct Callbacks {
    start: Option<Function>,
    connected: Option<Function>,
    message: Option<Function>,
    tick: Option<Function>,
    closed: Option<Function>,
}

/// A function that waits.
struct Task {
    thread: Thread,
    waits: Waits,
    is_start: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Waits {
    Connection,
    /// Until this time, in seconds of the run.
    Time(f64),
    /// For a message, or until this time.
    Message(f64),
    /// For the answer to the request of this number.
    Answer(u64),
}

/// How a resumed function went on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Resumed {
    Ended,
    Waits(Waits),
    /// It waits for the next message: the one that it got is not its.
    Passed(Waits),
}

impl BotScript {
    /// Runs the script's body for the bot for which the host answers.
    ///
    /// # Errors
    /// The script's, with its place.
    pub(crate) fn new(engine: &Engine) -> Result<Self, ScriptFault> {
        let declared = engine.build()?;
        let (bot, name) = (declared.bot, &engine.shared.folder.name);
        let callback = |field: &str| match bot.raw_get(field) {
            Ok(Value::Nil) => Ok(None),
            Ok(Value::Function(function)) => Ok(Some(function)),
            _ => {
                Err(ScriptFault::new(format!("{name}: bot.{field} is not a function; the name is that of a callback")))
            }
        };
        let callbacks = Callbacks {
            start: callback("start")?,
            connected: callback("connected")?,
            message: callback("message")?,
            tick: callback("tick")?,
            closed: callback("closed")?,
        };
        if callbacks.tick.is_some() != declared.tick_hz.is_some() {
            return Err(ScriptFault::new(format!(
                "{name}: ticks need both: a rate, as in skipstone.bot{{ tick = 60 }}, and function bot:tick(now)"
            )));
        }
        Ok(BotScript {
            has_start: callbacks.start.is_some(),
            bot,
            connect: declared.connect,
            tick_hz: declared.tick_hz,
            is_text: declared.is_text,
            callbacks,
            tasks: Vec::new(),
            order: None,
            has_asked: false,
            has_started: false,
            has_waited: false,
        })
    }

    /// Where the script connects.
    pub(crate) fn url(&self) -> Option<&str> {
        self.connect.as_deref()
    }

    /// How often it ticks.
    pub(crate) fn tick_hz(&self) -> Option<f64> {
        self.tick_hz
    }

    /// Whether it learns of the end of its connection: by `closed`, or because a function waits for a message.
    pub(crate) fn handles_closed(&self) -> bool {
        self.callbacks.closed.is_some()
            || self.tasks.iter().any(|task| matches!(task.waits, Waits::Connection | Waits::Message(_)))
    }

    /// Whether it has waited for a time before it connected.
    pub(crate) fn has_waited(&self) -> bool {
        self.has_waited
    }

    /// Whether there was a `start`, which has returned, and nothing waits.
    pub(crate) fn is_done(&self) -> bool {
        self.has_start && self.has_started && self.tasks.is_empty()
    }

    /// The connection that it asks for, once.
    pub(crate) fn take_order(&mut self) -> Option<ConnectOrder> {
        self.order.take()
    }

    /// When `wake` is due, in seconds of the run.
    pub(crate) fn next_wake(&self) -> Option<f64> {
        let times = self.tasks.iter().filter_map(|task| match task.waits {
            Waits::Connection | Waits::Answer(_) => None,
            Waits::Time(at) | Waits::Message(at) => at.is_finite().then_some(at),
        });
        times.min_by(f64::total_cmp)
    }

    /// The bot begins: `start`, or a connection at once.
    pub(crate) fn begin(&mut self, engine: &Engine) -> Result<(), ScriptFault> {
        match self.callbacks.start.take() {
            Some(start) => self.launch(engine, &start, (self.bot.clone(),), true),
            None => {
                self.on_started();
                Ok(())
            }
        }
    }

    /// The connection is made.
    pub(crate) fn on_connected(&mut self, engine: &Engine) -> Result<(), ScriptFault> {
        self.set_connected(engine, true)?;
        let waiting = self.take_tasks(|waits| matches!(waits, Waits::Connection));
        for task in waiting {
            self.go_on(engine, task, true)?;
        }
        match self.callbacks.connected.clone() {
            Some(connected) => self.launch(engine, &connected, (self.bot.clone(),), false),
            None => Ok(()),
        }
    }

    /// The connection has ended, or was not made: then the function that waits for it learns of it, or else `closed`.
    pub(crate) fn on_closed(&mut self, engine: &Engine, ending: &Ending) -> Result<(), ScriptFault> {
        self.set_connected(engine, false)?;
        let (cause, text) = (ending.cause.name(), ending.text.as_str());
        // A function whose order is not carried out yet waits for the next connection, not for this one.
        let is_next = self.order.is_some();
        let connecting = self.take_tasks(|waits| matches!(waits, Waits::Connection) && !is_next);
        let was_awaited = !connecting.is_empty();
        for task in connecting {
            self.go_on(engine, task, (false, cause, text))?;
        }
        for task in self.take_tasks(|waits| matches!(waits, Waits::Message(_))) {
            self.go_on(engine, task, (Value::Nil, "closed", ending.to_string()))?;
        }
        match self.callbacks.closed.clone() {
            Some(closed) if !was_awaited => self.launch(engine, &closed, (self.bot.clone(), cause, text), false),
            _ => Ok(()),
        }
    }

    /// A message arrived: a function that waits for it gets it, or else `message`.
    pub(crate) fn on_message(&mut self, engine: &Engine, channel: u16, data: &[u8]) -> Result<(), ScriptFault> {
        let waiting = self.take_tasks(|waits| matches!(waits, Waits::Message(_)));
        if waiting.is_empty() && self.callbacks.message.is_none() {
            return Ok(());
        }
        engine.enter();
        let made = if self.is_text {
            engine.lua.create_string(data).map(Value::String)
        } else {
            engine.lua.create_buffer(data).map(Value::Buffer)
        };
        let data = made.map_err(|error| engine.shared.fault(&error))?;
        let mut is_taken = false;
        for task in waiting {
            if is_taken {
                self.tasks.push(task);
            } else {
                is_taken = self.offer(engine, task, channel, &data)?;
            }
        }
        match &self.callbacks.message {
            Some(message) if !is_taken => engine.guarded(|| message.call::<()>((&self.bot, channel, data)))?,
            _ => {}
        }
        self.run_spawned(engine)
    }

    /// A tick that is due at this time, in seconds of the bot's life.
    pub(crate) fn tick(&mut self, engine: &Engine, now: f64) -> Result<(), ScriptFault> {
        let Some(tick) = &self.callbacks.tick else { return Ok(()) };
        engine.guarded(|| tick.call::<()>((&self.bot, now)))?;
        self.run_spawned(engine)
    }

    /// Resumes functions whose time has come.
    pub(crate) fn wake(&mut self, engine: &Engine, now: f64) -> Result<(), ScriptFault> {
        // A timer counts whole nanoseconds, and may be a little early.
        let is_due = |at: f64| at <= now + 1e-6;
        for task in self.take_tasks(|waits| matches!(waits, Waits::Time(at) | Waits::Message(at) if is_due(at))) {
            let is_message = matches!(task.waits, Waits::Message(_));
            if is_message {
                self.go_on(engine, task, (Value::Nil, "timeout"))?
            } else {
                self.go_on(engine, task, ())?
            };
        }
        Ok(())
    }

    /// A request is answered, or has failed.
    pub(crate) fn on_answer(
        &mut self,
        engine: &Engine,
        number: u64,
        outcome: Result<HttpResponse, String>,
    ) -> Result<(), ScriptFault> {
        let Some(task) = self.take_tasks(|waits| waits == Waits::Answer(number)).pop() else { return Ok(()) };
        engine.enter();
        let answer = http::answer(&engine.lua, outcome).map_err(|error| engine.shared.fault(&error))?;
        self.go_on(engine, task, answer)
    }

    fn set_connected(&self, engine: &Engine, is_connected: bool) -> Result<(), ScriptFault> {
        self.bot.raw_set("is_connected", is_connected).map_err(|error| engine.shared.fault(&error))
    }

    fn on_started(&mut self) {
        self.has_started = true;
        if !self.has_asked {
            self.order = Some(ConnectOrder { url: None });
        }
    }

    fn launch(
        &mut self,
        engine: &Engine,
        function: &Function,
        arguments: impl IntoLuaMulti,
        is_start: bool,
    ) -> Result<(), ScriptFault> {
        if self.tasks.len() >= TASKS_MAX {
            return Err(ScriptFault::new(format!(
                "{TASKS_MAX} functions of the bot wait already, the most that it has"
            )));
        }
        let thread = engine.lua.create_thread(function.clone()).map_err(|error| engine.shared.fault(&error))?;
        self.go_on(engine, Task { thread, waits: Waits::Connection, is_start }, arguments)
    }

    fn go_on(&mut self, engine: &Engine, task: Task, arguments: impl IntoLuaMulti) -> Result<(), ScriptFault> {
        self.resume(engine, task, arguments)?;
        self.run_spawned(engine)
    }

    /// Whether the function took the message.
    fn offer(&mut self, engine: &Engine, task: Task, channel: u16, data: &Value) -> Result<bool, ScriptFault> {
        Ok(!matches!(self.resume(engine, task, (channel, data))?, Resumed::Passed(_)))
    }

    fn resume(&mut self, engine: &Engine, task: Task, arguments: impl IntoLuaMulti) -> Result<Resumed, ScriptFault> {
        let yielded = engine.guarded(|| task.thread.resume::<MultiValue>(arguments))?;
        let resumed =
            if task.thread.status() == ThreadStatus::Resumable { self.waits(&yielded)? } else { Resumed::Ended };
        match resumed {
            Resumed::Ended if task.is_start => self.on_started(),
            Resumed::Ended => {}
            Resumed::Waits(waits) | Resumed::Passed(waits) => self.tasks.push(Task { waits, ..task }),
        }
        Ok(resumed)
    }

    /// Reads what a function yields: the prelude has the same numbers.
    fn waits(&mut self, yielded: &MultiValue) -> Result<Resumed, ScriptFault> {
        let (kind, value) = (yielded.front().and_then(number_of), yielded.get(1));
        let time = value.and_then(number_of).unwrap_or(f64::INFINITY);
        match kind.map(|kind| kind as u32) {
            Some(1) => {
                let url = value.and_then(Value::as_string).map(|url| url.to_string_lossy());
                self.order = Some(ConnectOrder { url });
                self.has_asked = true;
                Ok(Resumed::Waits(Waits::Connection))
            }
            Some(2) => {
                self.has_waited = true;
                Ok(Resumed::Waits(Waits::Time(time)))
            }
            Some(3) => Ok(Resumed::Waits(Waits::Message(time))),
            Some(5) => {
                self.has_waited = true;
                Ok(Resumed::Waits(Waits::Answer(time as u64)))
            }
            Some(4) => Ok(Resumed::Passed(Waits::Message(time))),
            _ => Err(ScriptFault::new(
                "coroutine.yield outside of a coroutine of the script waits for nothing: use bot:wait or bot:sleep",
            )),
        }
    }

    fn run_spawned(&mut self, engine: &Engine) -> Result<(), ScriptFault> {
        loop {
            let spawned = std::mem::take(&mut *engine.shared.spawned.borrow_mut());
            if spawned.is_empty() {
                return Ok(());
            }
            for (function, arguments) in spawned {
                self.launch(engine, &function, arguments, false)?;
            }
        }
    }

    fn take_tasks(&mut self, is_taken: impl Fn(Waits) -> bool) -> Vec<Task> {
        if !self.tasks.iter().any(|task| is_taken(task.waits)) {
            return Vec::new();
        }
        let (taken, left) = std::mem::take(&mut self.tasks).into_iter().partition(|task| is_taken(task.waits));
        self.tasks = left;
        taken
    }
}
