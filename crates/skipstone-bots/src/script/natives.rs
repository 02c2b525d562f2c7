//! The tool's functions under the prelude. Those that can refuse return the reason, which the prelude turns into an
//! error with the script's line.

use super::shared::{Declared, Shared, TASKS_MAX, number_of, or_refused};
use super::{data, http, options, protobuf};
use crate::metrics::{HTTP_FAILED, HTTP_TIMES, MetricId, MetricKind};
use crate::protocol::{Delivery, Outgoing};
use mlua::{Function, Lua, MultiValue, Table, Value};
use std::rc::Rc;

/// All, in a table.
pub(super) fn natives(lua: &Lua, shared: &Rc<Shared>) -> mlua::Result<Table> {
    let natives = lua.create_table()?;
    bot(lua, shared, &natives)?;
    measures(lua, shared, &natives)?;
    natives.set("data", data::reading(lua, Rc::clone(shared))?)?;
    natives.set("request", http::requesting(lua, Rc::clone(shared))?)?;
    protobuf::add(lua, shared, &natives)?;
    natives.set("encode", data::encoding(lua)?)?;
    natives.set("decode", data::decoding(lua)?)?;
    let own = Rc::clone(shared);
    let asked =
        move |_: &Lua, value: Value| Ok(options::read(&value).map(|options| *own.options.borrow_mut() = options).err());
    natives.set("options", lua.create_function(asked)?)?;
    Ok(natives)
}

fn bot(lua: &Lua, shared: &Rc<Shared>, natives: &Table) -> mlua::Result<()> {
    let own = Rc::clone(shared);
    natives.set("now", lua.create_function(move |_, ()| Ok(own.host.now()))?)?;
    let own = Rc::clone(shared);
    natives.set("number", lua.create_function(move |_, ()| Ok(own.host.number()))?)?;
    let own = Rc::clone(shared);
    let declare = move |_: &Lua, (bot, connect, tick, text): (Table, Value, Value, Value)| {
        Ok(declared(bot, &connect, &tick, &text).and_then(|declared| own.declare(declared)).err())
    };
    natives.set("declare", lua.create_function(declare)?)?;
    natives.set("send", sending(lua, Rc::clone(shared))?)?;
    let own = Rc::clone(shared);
    natives.set(
        "close",
        lua.create_function(move |_, ()| {
            own.host.close();
            Ok(())
        })?,
    )?;
    let own = Rc::clone(shared);
    natives.set("is_closing", lua.create_function(move |_, ()| Ok(own.host.is_closing()))?)?;
    let own = Rc::clone(shared);
    natives.set("not_connected", lua.create_function(move |_, ()| Ok(own.host.not_connected()))?)?;
    let own = Rc::clone(shared);
    let pause = move |_: &Lua, seconds: f64| Ok(own.host.pause_reading(seconds).err());
    natives.set("pause_reading", lua.create_function(pause)?)?;
    let own = Rc::clone(shared);
    let rtt = move |_: &Lua, ()| Ok(own.host.figures().and_then(|figures| figures.rtt).map(|rtt| rtt.as_secs_f64()));
    natives.set("rtt", lua.create_function(rtt)?)?;
    let own = Rc::clone(shared);
    let spawn = move |_: &Lua, (job, arguments): (Function, MultiValue)| {
        let mut spawned = own.spawned.borrow_mut();
        if spawned.len() >= TASKS_MAX {
            return Ok(Some(format!("bot:spawn: {TASKS_MAX} functions of a bot may wait at the same time")));
        }
        spawned.push((job, arguments));
        Ok(None)
    };
    natives.set("spawn", lua.create_function(spawn)?)
}

/// The prelude has checked that channel and due time are numbers.
fn sending(lua: &Lua, shared: Rc<Shared>) -> mlua::Result<Function> {
    lua.create_function(move |_, (channel, data, due, delivery): (f64, Value, Option<f64>, Value)| {
        if channel.fract() != 0.0 || !(0.0..=65_535.0).contains(&channel) {
            return Ok(Some(format!("bot:send takes a channel of 0 to 65535 first, not {channel}")));
        }
        let delivery = match delivery_of(&delivery) {
            Ok(delivery) => delivery,
            Err(refused) => return Ok(Some(refused)),
        };
        let send = |data: &[u8]| shared.host.send(Outgoing { channel: channel as u16, delivery, data }, due).err();
        Ok(match &data {
            Value::Buffer(buffer) => send(&buffer.to_vec()),
            Value::String(text) => send(&text.as_bytes()),
            other => Some(format!("bot:send takes a buffer or a string, not {}", other.type_name())),
        })
    })
}

fn delivery_of(value: &Value) -> Result<Option<Delivery>, String> {
    if value.is_nil() {
        return Ok(None);
    }
    let name = value.as_string().map(|name| name.to_string_lossy()).unwrap_or_default();
    Delivery::named(&name).map(Some).ok_or_else(|| {
        let names: Vec<&str> = Delivery::ALL.iter().map(|(name, _)| *name).collect();
        format!("bot:send: there is no delivery {name:?}; there are {}", names.join(", "))
    })
}

fn declared(bot: Table, connect: &Value, tick: &Value, text: &Value) -> Result<Declared, String> {
    let connect = match connect {
        Value::Nil => None,
        Value::String(url) => Some(url.to_string_lossy()),
        other => return Err(format!("skipstone.bot: connect is a URL, not {}", other.type_name())),
    };
    let tick_hz = match tick {
        Value::Nil => None,
        tick => Some(number_of(tick).filter(|rate| (0.001..=1000.0).contains(rate)).ok_or_else(|| {
            format!("skipstone.bot: tick is a number of 0.001 to 1000 times a second, not {}", shown(tick))
        })?),
    };
    let is_text = match text {
        Value::Nil => false,
        Value::Boolean(text) => *text,
        other => return Err(format!("skipstone.bot: text is true or false, not {}", other.type_name())),
    };
    Ok(Declared { bot, connect, tick_hz, is_text })
}

impl Shared {
    fn declare(&self, declared: Declared) -> Result<(), String> {
        let mut building = self.building.borrow_mut();
        match &mut *building {
            Some(building) if building.declared.is_none() => {
                building.declared = Some(declared);
                Ok(())
            }
            Some(_) => {
                Err("skipstone.bot was called already: a script describes one bot, and runs once for each".into())
            }
            None => Err("call skipstone.bot at the top of the script, not while the bot runs".into()),
        }
    }
}

fn measures(lua: &Lua, shared: &Rc<Shared>, natives: &Table) -> mlua::Result<()> {
    let own = Rc::clone(shared);
    let metric = move |lua: &Lua, (kind, name): (String, Value)| {
        let kind = match kind.as_str() {
            "trend" => MetricKind::Trend,
            "rate" => MetricKind::Rate,
            "counter" => MetricKind::Counter,
            _ => MetricKind::Gauge,
        };
        or_refused(lua, declared_name(&name).and_then(|name| own.host.metric(&name, kind)).map(MetricId::place))
    };
    natives.set("metric", lua.create_function(metric)?)?;
    let own = Rc::clone(shared);
    let record = move |_: &Lua, (id, value): (Option<usize>, Value)| {
        let Some(id) = id else { return Ok(Some("call it with a colon, as in trend:add(5)".to_owned())) };
        let number = match value {
            Value::Boolean(holds) => Some(f64::from(u8::from(holds))),
            value => number_of(&value),
        };
        let Some(number) = number else { return Ok(Some("a number is recorded, or of a rate true or false".into())) };
        Ok(own.host.record(MetricId::of_place(id), number).err())
    };
    natives.set("record", lua.create_function(record)?)?;
    let own = Rc::clone(shared);
    let check = move |_: &Lua, (name, holds): (Value, Value)| {
        let holds = !matches!(holds, Value::Nil | Value::Boolean(false));
        let id = declared_name(&name).and_then(|name| own.host.metric(&name, MetricKind::Check));
        Ok(id.and_then(|id| own.host.record(id, f64::from(u8::from(holds)))).err())
    };
    natives.set("check", lua.create_function(check)?)
}

fn declared_name(name: &Value) -> Result<String, String> {
    let name = named(name)?;
    if [HTTP_FAILED, HTTP_TIMES].contains(&name.as_str()) {
        return Err(format!("{name} is measured by http itself: give the metric another name"));
    }
    Ok(name)
}

fn named(name: &Value) -> Result<String, String> {
    let text = name.as_string().map(|name| name.to_string_lossy());
    text.ok_or_else(|| format!("a metric's name is a text, not {}", name.type_name()))
}

fn shown(value: &Value) -> String {
    value.to_string().unwrap_or_else(|_| value.type_name().to_owned())
}
