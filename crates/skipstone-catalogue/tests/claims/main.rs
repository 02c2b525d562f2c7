//! The claims of this crate, one module each.

mod every_language_has_everything;
mod files_are_what_the_catalogue_makes;
mod shown;
