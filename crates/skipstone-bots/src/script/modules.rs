//! `require`: files of the script's folder, compiled once for a VM and run once for a bot.

use super::shared::Shared;
use mlua::{Function, Lua, MultiValue, Value};
use std::rc::Rc;

/// `require("./packets")`, at the top of a script or of another module.
pub(super) fn require(lua: &Lua, shared: Rc<Shared>) -> mlua::Result<Function> {
    lua.create_function(move |lua, path: String| {
        let refused = |why: String| Err(mlua::Error::runtime(format!("require {path:?}: {why}")));
        let name = match file_name(&path) {
            Ok(name) => name,
            Err(why) => return refused(why),
        };
        let environment = {
            let mut building = shared.building.borrow_mut();
            let Some(building) = &mut *building else {
                return refused("call it at the top of the script, not while the bot runs".into());
            };
            if let Some(value) = building.modules.get(&name) {
                return Ok(value.clone());
            }
            if building.loading.contains(&name) {
                return refused("the module requires itself, by way of others or at once".into());
            }
            building.loading.push(name.clone());
            building.environment.clone()
        };
        let run = |module: Function| {
            let own = module.deep_clone()?;
            own.set_environment(environment)?;
            own.call::<MultiValue>(())
        };
        let returned = compiled(lua, &shared, &name).map(run);
        let mut building = shared.building.borrow_mut();
        let building = building.as_mut().expect("the script's body runs until it has returned");
        building.loading.retain(|other| *other != name);
        let value = match returned {
            Ok(returned) => returned?.into_iter().next().unwrap_or(Value::Nil),
            Err(Loading::Refused(why)) => return refused(why),
            Err(Loading::Syntax(error)) => return Err(error),
        };
        building.modules.insert(name, value.clone());
        Ok(value)
    })
}

enum Loading {
    Refused(String),
    Syntax(mlua::Error),
}

fn compiled(lua: &Lua, shared: &Shared, name: &str) -> Result<Function, Loading> {
    if let Some(module) = shared.compiled.borrow().get(name) {
        return Ok(module.clone());
    }
    let bytes = shared.folder.read(name).map_err(Loading::Refused)?;
    let source = String::from_utf8(bytes).map_err(|_| Loading::Refused("it is no text in UTF-8".into()))?;
    shared.sources.borrow_mut().insert(name.to_owned(), Rc::from(source.as_str()));
    let module = lua.load(source).set_name(format!("={name}")).into_function().map_err(Loading::Syntax)?;
    shared.compiled.borrow_mut().insert(name.to_owned(), module.clone());
    Ok(module)
}

/// `./packets`, `packets` and `packets.luau` are the same file.
fn file_name(path: &str) -> Result<String, String> {
    let path = path.strip_prefix("./").unwrap_or(path);
    if path.is_empty() {
        return Err("a path in the script's folder is needed".into());
    }
    Ok(if path.ends_with(".luau") || path.ends_with(".lua") { path.to_owned() } else { format!("{path}.luau") })
}
