//! `.proto` files, compiled: those of the script's folder, and Google's own that everybody imports.

use super::super::folder::ScriptFolder;
use protox::file::{File, FileResolver, GoogleFileResolver};
use protox::prost_reflect::{DescriptorPool, MessageDescriptor};
use protox::{Compiler, Error};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The files that a VM's scripts have loaded.
#[derive(Debug, Default)]
pub(super) struct Schemas {
    loaded: Vec<Rc<Schema>>,
    places: BTreeMap<String, usize>,
}

/// A file, with all that it imports.
#[derive(Debug)]
pub(super) struct Schema {
    pool: DescriptorPool,
    /// The file's package with its point, or nothing.
    package: String,
}

impl Schemas {
    /// The place of a file, which is compiled unless it is known.
    pub(super) fn load(&mut self, folder: &ScriptFolder, path: &str) -> Result<usize, String> {
        let path = path.strip_prefix("./").unwrap_or(path);
        if let Some(place) = self.places.get(path) {
            return Ok(*place);
        }
        let schema = Schema::compile(folder, path)?;
        self.loaded.push(Rc::new(schema));
        self.places.insert(path.to_owned(), self.loaded.len() - 1);
        Ok(self.loaded.len() - 1)
    }

    pub(super) fn at(&self, place: usize) -> Option<Rc<Schema>> {
        self.loaded.get(place).cloned()
    }
}

impl Schema {
    fn compile(folder: &ScriptFolder, path: &str) -> Result<Self, String> {
        // The parser takes the folders of a path by slashes alone.
        let path = path.replace('\\', "/");
        let beside = path.rsplit_once('/').map(|(above, _)| above.to_owned());
        // Tells of a file that is missing what the folder tells; the compiler would say less.
        folder.read(&path)?;
        let files = Files { folder: folder.clone(), beside, google: GoogleFileResolver::new(), opened: Cell::new(0) };
        let mut compiler = Compiler::with_file_resolver(files);
        compiler.open_file(&path).map_err(|error| told(&error))?;
        let pool = compiler.descriptor_pool();
        let file = pool.get_file_by_name(&path).ok_or_else(|| format!("{path} was not compiled"))?;
        let package = file.package_name();
        let package = if package.is_empty() { String::new() } else { format!("{package}.") };
        Ok(Schema { package, pool })
    }

    /// A message by its name, with or without the file's package.
    pub(super) fn message(&self, name: &str) -> Result<MessageDescriptor, String> {
        let whole = format!("{}{name}", self.package);
        let found = self.pool.get_message_by_name(&whole).or_else(|| self.pool.get_message_by_name(name));
        found.filter(|message| !message.is_map_entry()).ok_or_else(|| {
            let google = |message: &MessageDescriptor| message.package_name().starts_with("google.protobuf");
            let own = self.pool.all_messages().filter(|message| !message.is_map_entry() && !google(message));
            let short = |message: MessageDescriptor| {
                let name = message.full_name();
                name.strip_prefix(&self.package).unwrap_or(name).to_owned()
            };
            let names: Vec<String> = own.map(short).take(NAMES_SHOWN).collect();
            format!("there is no message {name:?}; there are {}", names.join(", "))
        })
    }
}

/// `Debug` has file, line and column, and `Display` has not.
fn told(error: &Error) -> String {
    if error.file().is_some() { format!("{error:?}") } else { error.to_string() }
}

/// Where imports are found: in the script's folder, or beside the file that was loaded.
struct Files {
    folder: ScriptFolder,
    beside: Option<String>,
    google: GoogleFileResolver,
    opened: Cell<usize>,
}

impl FileResolver for Files {
    fn open_file(&self, name: &str) -> Result<File, Error> {
        if name.starts_with("google/protobuf/")
            && let Ok(file) = self.google.open_file(name)
        {
            return Ok(file);
        }
        self.opened.set(self.opened.get() + 1);
        if self.opened.get() > FILES_MAX {
            return Err(Error::new(format!("it imports more than {FILES_MAX} files")));
        }
        let beside = self.beside.as_ref().map(|beside| format!("{beside}/{name}"));
        let found = self.folder.read(name).or_else(|why| match &beside {
            Some(path) => self.folder.read(path).map_err(|_| why),
            None => Err(why),
        });
        let bytes = match found {
            Ok(bytes) => bytes,
            Err(why) if why.contains("outside") => return Err(Error::new(why)),
            // The compiler adds the place of the import.
            Err(_) => return Err(Error::file_not_found(name)),
        };
        let source = String::from_utf8(bytes).map_err(|_| Error::new(format!("{name} is no text in UTF-8")))?;
        check(&source).map_err(|why| Error::new(format!("{name}: {why}")))?;
        File::from_source(name, &source)
    }
}

/// The parser calls itself for what is nested, and has no bound of its own for options.
fn check(source: &str) -> Result<(), String> {
    if source.len() > SOURCE_MAX {
        return Err(format!("a .proto file has at most {SOURCE_MAX} bytes, not {}", source.len()));
    }
    let mut depth = 0_usize;
    for byte in source.bytes() {
        match byte {
            b'{' | b'[' | b'<' | b'(' => depth += 1,
            b'}' | b']' | b'>' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > NESTING_MAX {
            return Err(format!("more than {NESTING_MAX} brackets are open at once"));
        }
    }
    Ok(())
}

const FILES_MAX: usize = 200;
const SOURCE_MAX: usize = 1 << 20;
const NESTING_MAX: usize = 100;
const NAMES_SHOWN: usize = 8;
