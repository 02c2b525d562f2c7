//! Tables as protobuf's bytes (protobuf.dev/programming-guides/encoding): fields by their numbers, maps by their keys,
//! so that the same table is the same bytes.

use super::super::shared::{bytes_of, number_of};
use super::wrong::Wrong;
use super::{DEPTH_MAX, EXACT, MESSAGE_MAX};
use mlua::{Table, Value};
use protox::prost_reflect::{Cardinality, FieldDescriptor, Kind, MessageDescriptor};

/// A message's bytes.
pub(super) fn encode(message: &MessageDescriptor, table: &Table) -> Result<Vec<u8>, Wrong> {
    body(message, table, DEPTH_MAX)
}

/// The wire's types.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wire {
    Varint(u64),
    Fixed64(u64),
    Bytes(Vec<u8>),
    Fixed32(u32),
    /// A message between two marks, of proto2.
    Group(Vec<u8>),
}

fn body(message: &MessageDescriptor, table: &Table, depth: usize) -> Result<Vec<u8>, Wrong> {
    if depth == 0 {
        return Err(Wrong::new(format!("more than {DEPTH_MAX} messages are nested: does a table contain itself?")));
    }
    let mut fields = Vec::new();
    for pair in table.pairs::<Value, Value>() {
        let (name, value) = pair.map_err(|error| Wrong::new(error.to_string()))?;
        fields.push((field(message, &name)?, value));
    }
    fields.sort_by_key(|(field, _)| field.number());
    check_whole(message, &fields)?;
    let mut out = Vec::new();
    for (field, value) in &fields {
        put_field(&mut out, field, value, depth).map_err(|wrong| wrong.within(field.name()))?;
        if out.len() > MESSAGE_MAX {
            return Err(Wrong::new(format!("the message has more than {MESSAGE_MAX} bytes")));
        }
    }
    Ok(out)
}

fn field(message: &MessageDescriptor, name: &Value) -> Result<FieldDescriptor, Wrong> {
    let text = name.as_string().map(|name| name.to_string_lossy());
    let found = text.as_deref().and_then(|name| message.get_field_by_name(name));
    found.ok_or_else(|| {
        let names: Vec<String> = message.fields().map(|field| field.name().to_owned()).collect();
        let shown = text.unwrap_or_else(|| name.to_string().unwrap_or_default());
        let has = if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
        Wrong::new(format!("{} has no field {shown:?}; {has}", message.name()))
    })
}

/// No field that must be there is missing, and of each oneof there is one at most.
fn check_whole(message: &MessageDescriptor, fields: &[(FieldDescriptor, Value)]) -> Result<(), Wrong> {
    for oneof in message.oneofs() {
        let of = |field: &FieldDescriptor| field.containing_oneof().is_some_and(|own| own == oneof);
        let mut set = fields.iter().map(|(field, _)| field).filter(|field| of(field));
        if let (Some(first), Some(second)) = (set.next(), set.next()) {
            let (first, second) = (first.name(), second.name());
            return Err(Wrong::new(format!("{first} and {second} exclude each other: both are of {}", oneof.name())));
        }
    }
    for field in message.fields().filter(|field| field.cardinality() == Cardinality::Required) {
        if fields.iter().all(|(own, _)| own.number() != field.number()) {
            return Err(Wrong::new(format!("{} needs the field {}", message.name(), field.name())));
        }
    }
    Ok(())
}

fn put_field(out: &mut Vec<u8>, field: &FieldDescriptor, value: &Value, depth: usize) -> Result<(), Wrong> {
    if field.is_map() {
        return put_map(out, field, value, depth);
    }
    if field.is_list() {
        return put_list(out, field, value, depth);
    }
    let wire = wire(field, value, depth)?;
    if field.supports_presence() || !wire.is_default() {
        wire.put(out, field.number());
    }
    Ok(())
}

fn put_list(out: &mut Vec<u8>, field: &FieldDescriptor, value: &Value, depth: usize) -> Result<(), Wrong> {
    let wrong = || Wrong::new(format!("a list is needed, not {}", told(value)));
    let list = value.as_table().ok_or_else(wrong)?;
    let length = list.raw_len();
    if list.pairs::<Value, Value>().take(length + 1).count() != length {
        return Err(Wrong::new("a list is needed: 1, 2, 3 and so on, without gaps and names"));
    }
    let mut packed = Vec::new();
    for at in 1..=length {
        let element: Value = list.raw_get(at).map_err(|error| Wrong::new(error.to_string()))?;
        let wire = wire(field, &element, depth).map_err(|wrong| wrong.within(&format!("[{at}]")))?;
        if field.is_packed() {
            wire.put_value(&mut packed);
        } else {
            wire.put(out, field.number());
        }
        if out.len() + packed.len() > MESSAGE_MAX {
            return Err(Wrong::new(format!("the message has more than {MESSAGE_MAX} bytes")));
        }
    }
    if !packed.is_empty() {
        Wire::Bytes(packed).put(out, field.number());
    }
    Ok(())
}

/// A map is a list of messages with the fields 1 and 2.
fn put_map(out: &mut Vec<u8>, field: &FieldDescriptor, value: &Value, depth: usize) -> Result<(), Wrong> {
    let map = value.as_table().ok_or_else(|| Wrong::new(format!("a table is needed, not {}", told(value))))?;
    let Kind::Message(entry) = field.kind() else { return Err(Wrong::new("the map has no entries")) };
    let (key_field, value_field) = (entry.map_entry_key_field(), entry.map_entry_value_field());
    let mut entries = Vec::new();
    for pair in map.pairs::<Value, Value>() {
        let (key, value) = pair.map_err(|error| Wrong::new(error.to_string()))?;
        let name = format!("[{}]", key.to_string().unwrap_or_default());
        let mut bytes = Vec::new();
        wire(&key_field, &key, depth).map_err(|wrong| wrong.within(&name))?.put(&mut bytes, 1);
        let of_key = bytes.len();
        wire(&value_field, &value, depth).map_err(|wrong| wrong.within(&name))?.put(&mut bytes, 2);
        entries.push((bytes[..of_key].to_vec(), bytes));
    }
    entries.sort();
    entries.into_iter().for_each(|(_, bytes)| Wire::Bytes(bytes).put(out, field.number()));
    Ok(())
}

fn wire(field: &FieldDescriptor, value: &Value, depth: usize) -> Result<Wire, Wrong> {
    let zigzag = |number: i64| (number << 1 ^ number >> 63) as u64;
    Ok(match field.kind() {
        Kind::Double => Wire::Fixed64(float(value)?.to_bits()),
        Kind::Float => Wire::Fixed32(narrow(float(value)?)?.to_bits()),
        Kind::Int32 => Wire::Varint(whole(value, i32::MIN.into(), i32::MAX.into())? as i64 as u64),
        Kind::Int64 => Wire::Varint(whole(value, i64::MIN.into(), i64::MAX.into())? as i64 as u64),
        Kind::Uint32 => Wire::Varint(whole(value, 0, u32::MAX.into())? as u64),
        Kind::Uint64 => Wire::Varint(whole(value, 0, u64::MAX.into())? as u64),
        Kind::Sint32 => Wire::Varint(zigzag(whole(value, i32::MIN.into(), i32::MAX.into())? as i64)),
        Kind::Sint64 => Wire::Varint(zigzag(whole(value, i64::MIN.into(), i64::MAX.into())? as i64)),
        Kind::Fixed32 => Wire::Fixed32(whole(value, 0, u32::MAX.into())? as u32),
        Kind::Fixed64 => Wire::Fixed64(whole(value, 0, u64::MAX.into())? as u64),
        Kind::Sfixed32 => Wire::Fixed32(whole(value, i32::MIN.into(), i32::MAX.into())? as i32 as u32),
        Kind::Sfixed64 => Wire::Fixed64(whole(value, i64::MIN.into(), i64::MAX.into())? as i64 as u64),
        Kind::Bool => match value {
            Value::Boolean(is_so) => Wire::Varint(u64::from(*is_so)),
            other => return Err(Wrong::new(format!("true or false is needed, not {}", told(other)))),
        },
        Kind::String => {
            let text = bytes_of(value).ok_or_else(|| Wrong::new(format!("a text is needed, not {}", told(value))))?;
            let text = String::from_utf8(text);
            Wire::Bytes(text.map_err(|_| Wrong::new("a text is UTF-8; other bytes need the type bytes"))?.into_bytes())
        }
        Kind::Bytes => {
            let data = bytes_of(value);
            Wire::Bytes(data.ok_or_else(|| Wrong::new(format!("a buffer or a string is needed, not {}", told(value))))?)
        }
        Kind::Enum(of) => match value {
            Value::String(name) => {
                let name = name.to_string_lossy();
                let found = of.get_value_by_name(&name);
                let number = found.map(|value| value.number()).ok_or_else(|| {
                    let names: Vec<String> = of.values().map(|value| value.name().to_owned()).collect();
                    Wrong::new(format!("{} has no {name:?}; it has {}", of.name(), names.join(", ")))
                })?;
                Wire::Varint(i64::from(number) as u64)
            }
            other => Wire::Varint(whole(other, i32::MIN.into(), i32::MAX.into())? as i64 as u64),
        },
        Kind::Message(message) => {
            let table = value.as_table();
            let table = table.ok_or_else(|| {
                Wrong::new(format!("a table with the fields of {} is needed, not {}", message.name(), told(value)))
            })?;
            let bytes = body(&message, table, depth - 1)?;
            if field.is_group() { Wire::Group(bytes) } else { Wire::Bytes(bytes) }
        }
    })
}

fn float(value: &Value) -> Result<f64, Wrong> {
    number_of(value).ok_or_else(|| Wrong::new(format!("a number is needed, not {}", told(value))))
}

fn narrow(number: f64) -> Result<f32, Wrong> {
    let narrow = number as f32;
    if narrow.is_infinite() && number.is_finite() {
        return Err(Wrong::new(format!("{number} is too large for a float: the type double holds it")));
    }
    Ok(narrow)
}

/// A whole number, or its digits as a text, which hold those that a script's numbers do not.
fn whole(value: &Value, least: i128, most: i128) -> Result<i128, Wrong> {
    let wrong = || Wrong::new(format!("a whole number of {least} to {most} is needed, not {}", told(value)));
    let number = match value {
        Value::String(text) => text.to_string_lossy().parse::<i128>().map_err(|_| wrong())?,
        other => {
            let number = number_of(other).filter(|number| number.fract() == 0.0).ok_or_else(wrong)?;
            if number.abs() > EXACT as f64 {
                let why = format!("{number} is not exact as a number: give its digits as a text");
                return Err(if number.abs() > most as f64 { wrong() } else { Wrong::new(why) });
            }
            number as i128
        }
    };
    if (least..=most).contains(&number) { Ok(number) } else { Err(wrong()) }
}

fn told(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{:?}", text.to_string_lossy().chars().take(40).collect::<String>()),
        Value::Number(number) => number.to_string(),
        Value::Integer(number) => number.to_string(),
        other => other.type_name().to_owned(),
    }
}

impl Wire {
    /// Whether a field without presence leaves it out.
    fn is_default(&self) -> bool {
        match self {
            Wire::Varint(number) | Wire::Fixed64(number) => *number == 0,
            Wire::Fixed32(number) => *number == 0,
            Wire::Bytes(bytes) => bytes.is_empty(),
            Wire::Group(_) => false,
        }
    }

    fn put(&self, out: &mut Vec<u8>, number: u32) {
        let number = u64::from(number) << 3;
        let kind = match self {
            Wire::Varint(_) => 0,
            Wire::Fixed64(_) => 1,
            Wire::Bytes(_) => 2,
            Wire::Group(_) => 3,
            Wire::Fixed32(_) => 5,
        };
        put_varint(out, number | kind);
        self.put_value(out);
        if matches!(self, Wire::Group(_)) {
            put_varint(out, number | 4);
        }
    }

    fn put_value(&self, out: &mut Vec<u8>) {
        match self {
            Wire::Varint(number) => put_varint(out, *number),
            Wire::Fixed64(number) => out.extend(number.to_le_bytes()),
            Wire::Fixed32(number) => out.extend(number.to_le_bytes()),
            Wire::Bytes(bytes) => {
                put_varint(out, bytes.len() as u64);
                out.extend_from_slice(bytes);
            }
            Wire::Group(bytes) => out.extend_from_slice(bytes),
        }
    }
}

fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
