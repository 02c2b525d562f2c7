//! What the functions of a VM share.

use super::folder::ScriptFolder;
use super::host::Host;
use crate::plan::ScriptOptions;
use mlua::{Function, Lua, MultiValue, Table};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What the functions of a VM share. References into the VM do not keep it alive.
pub(super) struct Shared {
    pub(super) host: Rc<dyn Host>,
    pub(super) folder: ScriptFolder,
    /// Texts of the script and its modules, by the names by which errors name them.
    pub(super) sources: RefCell<BTreeMap<String, Rc<str>>>,
    /// Modules as they were compiled, once for all bots.
    pub(super) compiled: RefCell<BTreeMap<String, Function>>,
    /// Data files that were read, by kind and path.
    pub(super) data: RefCell<BTreeMap<(String, String), mlua::Value>>,
    /// What the bot that is being built has said of itself.
    pub(super) building: RefCell<Option<Building>>,
    /// What the script asks for.
    pub(super) options: RefCell<ScriptOptions>,
    /// Functions that the running call has spawned.
    pub(super) spawned: RefCell<Vec<(Function, MultiValue)>>,
}

/// A bot whose script's body runs.
pub(super) struct Building {
    pub(super) environment: Table,
    /// What its modules returned.
    pub(super) modules: BTreeMap<String, mlua::Value>,
    /// Modules that are being loaded: a circle has no end.
    pub(super) loading: Vec<String>,
    pub(super) declared: Option<Declared>,
}

/// What `skipstone.bot` was called with.
#[derive(Clone)]
pub(super) struct Declared {
    pub(super) bot: Table,
    pub(super) connect: Option<String>,
    pub(super) tick_hz: Option<f64>,
    pub(super) is_text: bool,
}

impl Shared {
    pub(super) fn new(host: Rc<dyn Host>, folder: ScriptFolder) -> Rc<Self> {
        let sources = BTreeMap::from([(folder.name.clone(), Rc::from(folder.source.as_str()))]);
        Rc::new(Shared {
            host,
            folder,
            sources: RefCell::new(sources),
            compiled: RefCell::default(),
            data: RefCell::default(),
            building: RefCell::default(),
            options: RefCell::default(),
            spawned: RefCell::default(),
        })
    }
}

/// A function that returns `nil` and a sentence instead of an error, which would not have the script's line.
pub(super) fn or_refused(
    lua: &Lua,
    outcome: Result<impl mlua::IntoLua, String>,
) -> mlua::Result<(mlua::Value, Option<String>)> {
    match outcome {
        Ok(value) => Ok((value.into_lua(lua)?, None)),
        Err(refused) => Ok((mlua::Value::Nil, Some(refused))),
    }
}

/// A number of a script, which is whole or not.
pub(super) fn number_of(value: &mlua::Value) -> Option<f64> {
    match value {
        mlua::Value::Number(number) => Some(*number),
        mlua::Value::Integer(number) => Some(*number as f64),
        _ => None,
    }
}

/// A string's or a buffer's bytes.
pub(super) fn bytes_of(value: &mlua::Value) -> Option<Vec<u8>> {
    match value {
        mlua::Value::String(text) => Some(text.as_bytes().to_vec()),
        mlua::Value::Buffer(buffer) => Some(buffer.to_vec()),
        _ => None,
    }
}

/// Functions of a bot that may wait at the same time.
pub(super) const TASKS_MAX: usize = 64;
