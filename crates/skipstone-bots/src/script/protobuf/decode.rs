//! Protobuf's bytes as tables. Fields without presence have their default, those with presence are `nil` where they are
//! absent; lists and maps are tables always. Fields that the file does not know are left out.

use super::{EXACT, MESSAGE_MAX};
use mlua::{Lua, Table, Value};
use protox::prost_reflect::{
    DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, ReflectMessage, Value as Field,
};

/// Reads a message.
pub(super) fn decode(message: MessageDescriptor, data: &[u8]) -> Result<DynamicMessage, String> {
    if data.len() > MESSAGE_MAX {
        return Err(format!("a message has at most {MESSAGE_MAX} bytes, not {}", data.len()));
    }
    DynamicMessage::decode(message, data).map_err(|error| error.to_string())
}

/// What numbers of 64 bits become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WideNumbers {
    /// A number if it is exact, else a text with its digits.
    NumbersWhereExact,
    /// A text with its digits.
    Texts,
}

impl WideNumbers {
    /// A message as a table.
    pub(super) fn table(self, lua: &Lua, message: &DynamicMessage) -> mlua::Result<Table> {
        let table = lua.create_table()?;
        for field in message.descriptor().fields() {
            let is_there = !field.supports_presence() || message.has_field(&field);
            if is_there || field.is_list() || field.is_map() {
                table.raw_set(field.name(), self.field(lua, &field, &message.get_field(&field))?)?;
            }
        }
        Ok(table)
    }

    fn field(self, lua: &Lua, field: &FieldDescriptor, value: &Field) -> mlua::Result<Value> {
        match (value, field.kind()) {
            (Field::List(list), kind) => {
                let table = lua.create_table_with_capacity(list.len(), 0)?;
                for (at, element) in list.iter().enumerate() {
                    table.raw_set(at + 1, self.single(lua, &kind, element)?)?;
                }
                Ok(Value::Table(table))
            }
            (Field::Map(map), Kind::Message(entry)) => {
                let kind = entry.map_entry_value_field().kind();
                let table = lua.create_table_with_capacity(0, map.len())?;
                // The order in which a script walks over it follows from the order here.
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_by_key(|(key, _)| *key);
                for (key, value) in entries {
                    table.raw_set(self.key(lua, key)?, self.single(lua, &kind, value)?)?;
                }
                Ok(Value::Table(table))
            }
            (value, kind) => self.single(lua, &kind, value),
        }
    }

    fn single(self, lua: &Lua, kind: &Kind, value: &Field) -> mlua::Result<Value> {
        Ok(match value {
            Field::Bool(is_so) => Value::Boolean(*is_so),
            Field::I32(number) => Value::Number((*number).into()),
            Field::U32(number) => Value::Number((*number).into()),
            Field::I64(number) => self.wide(lua, (*number).into())?,
            Field::U64(number) => self.wide(lua, (*number).into())?,
            Field::F32(number) => Value::Number((*number).into()),
            Field::F64(number) => Value::Number(*number),
            Field::String(text) => Value::String(lua.create_string(text)?),
            Field::Bytes(bytes) => Value::Buffer(lua.create_buffer(bytes)?),
            Field::EnumNumber(number) => {
                let named = kind.as_enum().and_then(|of| of.get_value(*number));
                match named {
                    Some(named) => Value::String(lua.create_string(named.name())?),
                    None => Value::Number((*number).into()),
                }
            }
            Field::Message(message) => Value::Table(self.table(lua, message)?),
            // Neither is within the other.
            Field::List(_) | Field::Map(_) => Value::Nil,
        })
    }

    fn key(self, lua: &Lua, key: &MapKey) -> mlua::Result<Value> {
        Ok(match key {
            MapKey::Bool(is_so) => Value::Boolean(*is_so),
            MapKey::I32(number) => Value::Number((*number).into()),
            MapKey::U32(number) => Value::Number((*number).into()),
            MapKey::I64(number) => self.wide(lua, (*number).into())?,
            MapKey::U64(number) => self.wide(lua, (*number).into())?,
            MapKey::String(text) => Value::String(lua.create_string(text)?),
        })
    }

    fn wide(self, lua: &Lua, number: i128) -> mlua::Result<Value> {
        if self == WideNumbers::NumbersWhereExact && number.unsigned_abs() <= EXACT.unsigned_abs().into() {
            return Ok(Value::Number(number as f64));
        }
        Ok(Value::String(lua.create_string(number.to_string())?))
    }
}
