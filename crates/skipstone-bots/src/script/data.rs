//! Data files of the script's folder, which all bots of a worker share and cannot change; and JSON.

use super::shared::{Shared, or_refused};
use mlua::{Function, Lua, LuaSerdeExt, Value};
use std::rc::Rc;

/// `data.text`, `data.lines` and `data.json`: kind and path in, the value or a refusal out.
pub(super) fn reading(lua: &Lua, shared: Rc<Shared>) -> mlua::Result<Function> {
    lua.create_function(move |lua, (kind, path): (String, Value)| {
        let Some(path) = path.as_string().map(|path| path.to_string_lossy()) else {
            let refused = Err::<Value, _>(format!("data.{kind} takes a path in the script's folder"));
            return or_refused(lua, refused);
        };
        let key = (kind, path);
        let known = shared.data.borrow().get(&key).cloned();
        let read = || {
            let value = read(lua, &shared, &key.0, &key.1)?;
            shared.data.borrow_mut().insert(key.clone(), value.clone());
            Ok(value)
        };
        or_refused(lua, known.map_or_else(read, Ok))
    })
}

fn read(lua: &Lua, shared: &Shared, kind: &str, path: &str) -> Result<Value, String> {
    let bytes = shared.folder.read(path)?;
    let made = match kind {
        "json" => {
            let value = json(lua, &bytes).map_err(|why| format!("{path:?} is no JSON: {why}"))?;
            freeze(&value);
            return Ok(value);
        }
        "lines" => {
            let text = String::from_utf8_lossy(&bytes);
            let lines = lua.create_sequence_from(text.lines());
            lines.map(|lines| {
                lines.set_readonly(true);
                Value::Table(lines)
            })
        }
        _ => lua.create_string(&bytes).map(Value::String),
    };
    made.map_err(|error| format!("{path:?}: {error}"))
}

/// `json.encode`.
pub(super) fn encoding(lua: &Lua) -> mlua::Result<Function> {
    lua.create_function(|lua, value: Value| {
        let text = serde_json::to_string(&value).map_err(|error| format!("json.encode: {error}"));
        or_refused(lua, text)
    })
}

/// `json.decode`, of a string or a buffer.
pub(super) fn decoding(lua: &Lua) -> mlua::Result<Function> {
    lua.create_function(|lua, text: Value| {
        let length = match &text {
            Value::String(text) => text.as_bytes().len(),
            Value::Buffer(buffer) => buffer.len(),
            _ => 0,
        };
        if length > JSON_BYTES_MAX {
            let why = format!("json.decode: {length} bytes; a text has at most {JSON_BYTES_MAX}");
            return or_refused(lua, Err::<Value, _>(why));
        }
        let decoded = match &text {
            Value::String(text) => json(lua, &text.as_bytes()),
            Value::Buffer(buffer) => json(lua, &buffer.to_vec()),
            other => Err(format!("a string or a buffer is needed, not {}", other.type_name())),
        };
        or_refused(lua, decoded.map_err(|why| format!("json.decode: {why}")))
    })
}

/// Null is `nil`.
fn json(lua: &Lua, bytes: &[u8]) -> Result<Value, String> {
    let value: serde_json::Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let options = mlua::serde::SerializeOptions::new().serialize_none_to_null(false).serialize_unit_to_null(false);
    let value = lua.to_value_with(&value, options.set_array_metatable(false)).map_err(|error| error.to_string())?;
    Ok(value)
}

/// Makes a table and all tables in it read only. JSON has no circles.
fn freeze(value: &Value) {
    let Value::Table(table) = value else { return };
    table.pairs::<Value, Value>().flatten().for_each(|(_, inner)| freeze(&inner));
    table.set_readonly(true);
}

/// What is read takes many times the text's memory, outside of the VM and its limit.
const JSON_BYTES_MAX: usize = 4 << 20;
