//! `http` of scripts: requests read and checked, answers as tables.

use super::shared::{Shared, bytes_of, number_of, or_refused};
use crate::http::{HttpOptions, HttpRequest, HttpResponse};
use mlua::{Function, Lua, MultiValue, Table, Value};
use std::rc::Rc;

/// Method, URL and options in; the request's number or a refusal out.
pub(super) fn requesting(lua: &Lua, shared: Rc<Shared>) -> mlua::Result<Function> {
    lua.create_function(move |lua, (method, url, options): (Value, Value, Value)| {
        let request = request(&method, &url, &options);
        or_refused(lua, request.and_then(|request| shared.host.request(request)).map(|number| number as f64))
    })
}

/// What the function that waits for an answer gets: the answer, or `nil` and why there is none.
pub(super) fn answer(lua: &Lua, outcome: Result<HttpResponse, String>) -> mlua::Result<MultiValue> {
    let response = match outcome {
        Ok(response) => response,
        Err(why) => return Ok(MultiValue::from_iter([Value::Nil, Value::String(lua.create_string(why)?)])),
    };
    let headers = lua.create_table()?;
    for (name, value) in response.headers {
        headers.raw_set(name, lua.create_string(value)?)?;
    }
    let table = lua.create_table()?;
    table.raw_set("status", response.status)?;
    table.raw_set("headers", headers)?;
    table.raw_set("body", lua.create_string(response.body)?)?;
    Ok(MultiValue::from_iter([Value::Table(table)]))
}

fn request(method: &Value, url: &Value, options: &Value) -> Result<HttpRequest, String> {
    let text = |value: &Value, what: &str| match value {
        Value::String(text) => Ok(text.to_string_lossy()),
        other => Err(format!("{what} is a text, not {}", other.type_name())),
    };
    let (method, url) = (text(method, "the method")?, text(url, "the URL")?);
    HttpRequest::new(&method, &url, read(options)?)
}

fn read(options: &Value) -> Result<HttpOptions, String> {
    let mut read = HttpOptions::default();
    let table = match options {
        Value::Nil => return Ok(read),
        Value::Table(table) => table,
        other => return Err(format!("options are a table, not {}", other.type_name())),
    };
    for pair in table.pairs::<Value, Value>() {
        let (name, value) = pair.map_err(|error| error.to_string())?;
        let name = name.as_string().map(|name| name.to_string_lossy()).unwrap_or_default();
        let number = || number_of(&value).ok_or_else(|| format!("{name} is a number, not {}", value.type_name()));
        match name.as_str() {
            // The function's own.
            "method" => {}
            "timeout" => read.timeout_s = number()?,
            "max" => read.body_max = number()?,
            "headers" => read.headers = headers(&value)?,
            "trust" => read.trust = Some(value.as_string().ok_or("trust is a text")?.to_string_lossy()),
            "body" | "json" if read.body.is_some() => return Err("body and json are the same: give one".into()),
            "body" => read.body = Some((bytes_of(&value).ok_or("body is a string or a buffer")?, None)),
            "json" => {
                let json = serde_json::to_vec(&value).map_err(|error| format!("json: {error}"))?;
                read.body = Some((json, Some("application/json")));
            }
            _ => return Err(format!("there is no option {name:?}; there are {OPTIONS}")),
        }
    }
    Ok(read)
}

fn headers(value: &Value) -> Result<Vec<(String, Vec<u8>)>, String> {
    let wrong = || "headers are a table of names and texts".to_owned();
    let pairs = value.as_table().map(Table::pairs::<Value, Value>).ok_or_else(wrong)?;
    let header = |pair: mlua::Result<(Value, Value)>| {
        let (name, value) = pair.map_err(|error| error.to_string())?;
        let name = name.as_string().map(|name| name.to_string_lossy()).ok_or_else(wrong)?;
        let value = match value {
            Value::String(text) => text.as_bytes().to_vec(),
            other => number_of(&other).map(|number| number.to_string().into_bytes()).ok_or_else(wrong)?,
        };
        Ok((name, value))
    };
    let mut headers: Vec<(String, Vec<u8>)> = pairs.map(header).collect::<Result<_, String>>()?;
    // The order of a table's names is not the script's.
    headers.sort();
    Ok(headers)
}

const OPTIONS: &str = "headers, body, json, timeout, max, trust, and of http.request method";
