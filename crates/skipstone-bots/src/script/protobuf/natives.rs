//! The functions under `protobuf` of the prelude. A refusal is a sentence.

use super::super::shared::{Shared, bytes_of, or_refused};
use super::decode::{WideNumbers, decode};
use super::encode::encode;
use super::schema::{Schema, Schemas};
use mlua::{Lua, Table, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// Adds them.
pub(in crate::script) fn add(lua: &Lua, shared: &Rc<Shared>, natives: &Table) -> mlua::Result<()> {
    let schemas = Rc::new(RefCell::new(Schemas::default()));
    let (own, known) = (Rc::clone(shared), Rc::clone(&schemas));
    let load = move |lua: &Lua, path: Value| or_refused(lua, load(&own, &known, &path).map(|place| place as f64));
    natives.set("protobuf_load", lua.create_function(load)?)?;
    let known = Rc::clone(&schemas);
    let encode = move |lua: &Lua, (place, name, value): (usize, Value, Value)| {
        let encoded = schema(&known, place, &name).and_then(|(schema, name)| {
            let message = schema.message(&name)?;
            let Value::Table(table) = &value else {
                return Err(format!("{name} is a table of fields, not {}", value.type_name()));
            };
            encode(&message, table).map_err(|wrong| format!("{name}: {wrong}"))
        });
        match encoded {
            Ok(bytes) => or_refused(lua, Ok::<_, String>(Value::Buffer(lua.create_buffer(bytes)?))),
            Err(why) => or_refused(lua, Err::<Value, _>(why)),
        }
    };
    natives.set("protobuf_encode", lua.create_function(encode)?)?;
    let known = schemas;
    let decode = move |lua: &Lua, (place, name, data, is_text): (usize, Value, Value, bool)| {
        let wide = if is_text { WideNumbers::Texts } else { WideNumbers::NumbersWhereExact };
        let decoded = schema(&known, place, &name).and_then(|(schema, name)| {
            let message = schema.message(&name)?;
            let data =
                bytes_of(&data).ok_or_else(|| format!("a buffer or a string is needed, not {}", data.type_name()))?;
            decode(message, &data).map_err(|why| format!("{name}: {why}"))
        });
        match decoded {
            Ok(message) => or_refused(lua, Ok::<_, String>(wide.table(lua, &message)?)),
            Err(why) => or_refused(lua, Err::<Value, _>(why)),
        }
    };
    natives.set("protobuf_decode", lua.create_function(decode)?)
}

fn load(shared: &Shared, schemas: &RefCell<Schemas>, path: &Value) -> Result<usize, String> {
    let Some(path) = path.as_string().map(|path| path.to_string_lossy()) else {
        return Err("a path in the script's folder is needed".into());
    };
    schemas.borrow_mut().load(&shared.folder, &path)
}

fn schema(schemas: &RefCell<Schemas>, place: usize, name: &Value) -> Result<(Rc<Schema>, String), String> {
    let name = name.as_string().map(|name| name.to_string_lossy());
    let name = name.ok_or("the name of a message is needed first, such as \"Move\"")?;
    let schema = schemas.borrow().at(place).ok_or("the file is not loaded")?;
    Ok((schema, name))
}
